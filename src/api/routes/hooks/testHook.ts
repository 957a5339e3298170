import Type from "typebox";
import { resolveModel } from "../../../config/agents/agent.ts";
import { agentRequest } from "../../../hooks/mappings/agentRequest.ts";
import { acceptAgentRun } from "../../../models/intake/acceptHook.ts";
import { agentHook } from "../../../shared/queue/definitions.ts";
import * as s from "../../../wire/blocks.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../routing/route.ts";
import { RunId } from "./hooks.ts";

const TEST = {
  message: "This is a test of the agent hook. Answer in one short sentence.",
  deliver: false,
  wakeMode: "next-heartbeat",
} as const;

/** Starts a run for people who have no hook token, such as those who use the dashboard. */
export const testHookRoute = route({
  method: "post",
  path: "/api/hooks/test",
  operationId: "testHook",
  scopes: ["hooks:agent"],
  tag: "hooks",
  summary: "Send a test hook",
  description:
    "Starts a run of the agent with a short test message, as a request to `/hooks/agent` would, and returns its `runId` at once (202). The reply is not delivered. Use it to see that the agent and the workers are ready. Each call starts a run.",
  example: examples.testHook,
  schemas: {},
  answers: { 202: Type.Object({ runId: RunId }, s.named("TestRun")) },
  errors: [],
  audit: () => ({ action: "hook.test", target: "agent" }),
  async handler(_input, { stores, queues, agents: { defaults }, metrics }) {
    const resolved = resolveModel(defaults, undefined);
    const request = agentRequest(TEST, resolved.ok ? resolved.model : undefined, defaults);
    const { runId } = await acceptAgentRun(stores, { name: "Test hook", sessionKey: undefined, request });
    await queues.add(agentHook, { runId }, { jobId: runId });
    metrics.hooks.inc({ hook: "agent" });
    return { status: 202, headers: { Location: `/api/runs/${runId}` }, body: { runId } };
  },
});
