import Type from "typebox";
import { resolveModel } from "../../../config/agents/agent.ts";
import { type AgentSettings, agentFault, agentSettings } from "../../../config/agents/agents.ts";
import type { Config } from "../../../config/config.ts";
import { agentRequest } from "../../../hooks/mappings/agentRequest.ts";
import { agentFields, timeoutField, wakeFields } from "../../../hooks/mappings/fields.ts";
import { acceptAgentRun, acceptWake } from "../../../models/intake/acceptHook.ts";
import type { Idempotency } from "../../../models/intake/reserveIds.ts";
import { assignSessionAgent, findSessionAgent, otherAgent } from "../../../models/intake/sessionAgents.ts";
import { AGENT_HOOK, assignSessionOwner } from "../../../models/intake/sessionOwners.ts";
import { DEPTH_HEADER, readDepth } from "../../../models/notes/depth.ts";
import { AppError, invalidField } from "../../../shared/errors.ts";
import { checkCallbackUrl } from "../../../shared/outbound/callbackUrl.ts";
import { agentHook } from "../../../shared/queue/definitions.ts";
import { sessionKeyFault } from "../../../shared/sessionKey.ts";
import * as s from "../../../wire/blocks.ts";
import { Run } from "../../../wire/runs/run.ts";
import type { ApiDeps } from "../../deps.ts";
import * as examples from "../../examples/gateway.ts";
import { checkRecipient } from "../../recipient.ts";
import { type AnyRoute, route } from "../../routing/route.ts";
import { keptTraceparent, traceHeader } from "../../traceparent.ts";
import { endOfRun, viewForSender } from "../runs/runs.ts";
import {
  openClawBody,
  openClawCompletion,
  openClawFields,
  openClawKey,
  refuseOpenClawFields,
  refuseSessionOfWake,
} from "./openclaw.ts";

type HookConfig = Config["hooks"];

/** Allows the additional fields and parameters that some senders add. */
const open = { additionalProperties: true } as const;

const WakeMode = Type.Enum(["now", "next-heartbeat"], {
  title: "WakeMode",
  description: "When the main session takes its turn.",
});
export const RunId = Type.String({ description: "Identifies the run. Read it at `GET /api/runs/{runId}`." });

export const hookQuery = Type.Object(
  {
    token: Type.Optional(
      Type.Unknown({
        deprecated: true,
        description: "The hook token. Deprecated, because proxies log URLs: send a header instead.",
      }),
    ),
    ...traceHeader,
  },
  open,
);
export const hookHeaders = Type.Object(
  {
    "idempotency-key": Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: "Makes a repetition safe: requests with the same key and body have one effect within 24 hours.",
      }),
    ),
    [DEPTH_HEADER]: Type.Optional(
      Type.String({
        description:
          "The header `Signalbox-Depth` of the webhook that has caused this request. Pass it on, so that a loop of events and runs ends.",
      }),
    ),
  },
  open,
);

/** Encodes the parts of a key unambiguously as one string. The line feed distinguishes it from any header value. */
export const joinKey = (...parts: readonly string[]): string => `\n${JSON.stringify(parts)}`;

/** Returns the idempotency of a request with the hook token, in the namespace of its hook; undefined without a key. */
export const idempotencyOf = (
  key: string | undefined,
  kind: "built-in" | "mapped",
  hook: string,
  body: unknown,
): Idempotency | undefined =>
  key === undefined ? undefined : { key: joinKey(kind, hook, key), request: [hook, body] };

/** Returns the routes of the built-in hooks under their configured path; empty when hooks are disabled. */
export function hookRoutes({ enabled, path, maxBodyBytes, maxTimeoutSeconds, compat }: HookConfig): AnyRoute[] {
  if (!enabled) return [];
  const isOpenClaw = compat === "openclaw";
  const ofSender = isOpenClaw ? openClawFields : ({} as typeof openClawFields);
  const keyOf = (headers: { readonly "idempotency-key"?: string }, body: object) =>
    headers["idempotency-key"] ?? (isOpenClaw ? openClawKey(headers, body) : undefined);
  const common = { tag: "hooks", bodyLimit: maxBodyBytes, errors: ["idempotency_conflict"] } as const;
  const wake = route({
    ...common,
    method: "post",
    path: `${path}/wake`,
    operationId: "wake",
    scopes: ["hooks:wake"],
    summary: "Wake the main session",
    description:
      "Adds an event to the queue of the main session, such as `The nightly backup failed`. With `mode: now` (the default) the agent takes a turn at once. With `next-heartbeat` it reads the event at the next heartbeat. Use `/hooks/agent` instead when you want a run with a reply of its own.\n\nSend an `Idempotency-Key` to make a repeated request safe.",
    example: examples.wake,
    schemas: {
      query: hookQuery,
      headers: hookHeaders,
      body: Type.Object(
        { ...wakeFields, ...(isOpenClaw && { idempotencyKey: openClawFields.idempotencyKey }) },
        { ...open, title: "WakeHook" },
      ),
    },
    answers: {
      200: Type.Object(
        { ok: s.Ok.properties.ok, mode: WakeMode, eventId: Type.String({ description: "Identifies the event." }) },
        s.named("WakeAccepted"),
      ),
    },
    async handler({ headers, body }, { stores, queues, metrics }) {
      const { text, mode = "now" } = body;
      refuseSessionOfWake(body);
      if (!isOpenClaw) refuseOpenClawFields(body);
      const idempotency = idempotencyOf(keyOf(headers, body), "built-in", "wake", body);
      const { eventId, isNew } = await acceptWake(
        stores,
        { text, mode, depth: readDepth(headers[DEPTH_HEADER]) },
        idempotency,
      );
      if (mode === "now" && isNew) await queues.triggerHeartbeat();
      metrics.hooks.inc({ hook: "wake" });
      return { status: 200, body: { ok: true as const, mode, eventId } };
    },
  });
  // one schema for both statuses: clients of some generators read every response by the schema of the first
  const AcceptedAgentRun = Type.Object(
    {
      ok: s.Ok.properties.ok,
      runId: RunId,
      sessionKey: s.Identifier("The conversation of the run."),
      run: Type.Optional({ ...Run, description: "The run with its reply: only if it has ended while you waited." }),
      ...(isOpenClaw ? openClawCompletion : ({} as typeof openClawCompletion)),
    },
    s.named("AcceptedAgentRun"),
  );
  const agent = route({
    ...common,
    method: "post",
    path: `${path}/agent`,
    operationId: "runAgent",
    scopes: ["hooks:agent"],
    summary: "Start an agent run",
    description:
      "Starts a run of the agent with your message and returns its `runId` at once (202). The agent works in the background: read `GET /api/runs/{runId}` for the reply, or have the reply delivered to a chat with `channel` and `to`. With `Prefer: wait=30` the response is sent once the run has ended, with the run and its reply (200); if it takes longer than 30 seconds, the response is the usual one (202). Without `sessionKey` each run has its own conversation; runs with the same key share one and are processed in order.\n\nSend an `Idempotency-Key` to make a repeated request safe: it waits for the run of the first one.",
    example: examples.runAgent,
    schemas: {
      query: hookQuery,
      headers: hookHeaders,
      body: Type.Object(
        {
          ...agentFields,
          ...ofSender,
          timeoutSeconds: timeoutField(maxTimeoutSeconds),
          callbackUrl: Type.Optional(s.CallbackUrl("run")),
        },
        { ...open, title: "AgentHook" },
      ),
    },
    canWait: true,
    waitsFully: (body) => isOpenClaw && openClawBody(body as object).waitForCompletion === true,
    answers: { 200: AcceptedAgentRun, 202: AcceptedAgentRun },
    async handler({ headers, body, wait }, deps) {
      const { stores, queues, hooks, agents, metrics, waiting, callbackHosts } = deps;
      const { callbackUrl } = body;
      if (!isOpenClaw) refuseOpenClawFields(body);
      checkCallbackUrl(callbackUrl, callbackHosts);
      const key = checkSessionKey(hooks, body.sessionKey);
      const sessionKey = isOpenClaw && body.sessionMode !== "persistent" ? undefined : key;
      const agentId = await checkAgent(deps, body.agentId, sessionKey);
      const settings = agentSettings(agents, agentId) ?? agents.defaults;
      const request = agentRequest(
        { ...body, ...(agentId !== undefined && { agentId }) },
        checkModel(settings, body.model),
        settings,
      );
      await checkRecipient(deps, body.channel, body.to);
      const isNamed = sessionKey !== undefined && sessionKey !== hooks.defaultSessionKey;
      const assignSession = async () => {
        if (isNamed && !hooks.shareSessions && !(await assignSessionOwner(stores, sessionKey, AGENT_HOOK)))
          throw invalidField("sessionKey", "names a session that another hook owns: choose another key");
        if (sessionKey === undefined || !hasAgents(agents)) return;
        if ((await assignSessionAgent(stores, sessionKey, agentId)) !== (agentId ?? null))
          throw new AppError("unavailable", {
            detail: "Another request has just given the session to its agent: send this one again.",
          });
      };
      const idempotency = idempotencyOf(keyOf(headers, body), "built-in", "agent", body);
      const wanted = {
        name: body.name ?? null,
        sessionKey,
        request,
        callbackUrl,
        depth: readDepth(headers[DEPTH_HEADER]),
        ...keptTraceparent(stores, headers),
      };
      const run = await acceptAgentRun(stores, wanted, idempotency, assignSession);
      await queues.add(agentHook, { runId: run.runId }, { jobId: run.runId });
      metrics.hooks.inc({ hook: "agent" });
      const location = { Location: `/api/runs/${run.runId}` };
      const answer = { ok: true as const, ...run };
      if (!wait) return { status: 202, headers: location, body: answer };
      // the run is accepted, so that a failed read must not fail the request
      const waited = await waiting.until(wait, endOfRun(stores, run.runId)).catch(() => null);
      const all = { ...location, ...waited?.headers };
      if (!waited?.value.endedAt) return { status: 202, headers: all, body: answer };
      const ended = viewForSender(waited.value);
      const completion = { status: ended.status === "completed" ? ("ok" as const) : ("error" as const) };
      return { status: 200, headers: all, body: { ...answer, run: ended, ...(isOpenClaw && { completion }) } };
    },
  });
  return [wake, agent];
}

const hasAgents = ({ list }: Config["agents"]): boolean => Object.keys(list).length > 0;

/**
 * Returns the agent of the run: the requested one, or that of its session.
 * @returns undefined for the agent of `agents.defaults`
 * @throws AppError invalid_body if there is no such agent, or if the session belongs to another one; unavailable
 */
async function checkAgent(
  { stores, agents }: ApiDeps,
  requested: string | undefined,
  sessionKey: string | undefined,
): Promise<string | undefined> {
  const owner = sessionKey === undefined || !hasAgents(agents) ? undefined : await findSessionAgent(stores, sessionKey);
  const agentId = requested ?? owner ?? undefined;
  const fault = agentFault(agents, agentId);
  if (fault) throw invalidField("agentId", fault);
  if (requested !== undefined && owner !== undefined && owner !== requested)
    throw invalidField("agentId", otherAgent(owner));
  return agentId;
}

/** Returns the model to use. @throws AppError invalid_body */
function checkModel(agent: AgentSettings, requested: string | undefined): string | undefined {
  const resolved = resolveModel(agent, requested);
  if (resolved.ok) return resolved.model;
  throw invalidField("model", `must be one of ${resolved.allowed.join(", ")}`);
}

/** Returns the key of the run's session, or undefined when the run gets a session of its own. @throws AppError invalid_body */
function checkSessionKey(hooks: HookConfig, requested: string | undefined): string | undefined {
  if (requested === undefined) return hooks.defaultSessionKey;
  if (!hooks.allowRequestSessionKey)
    throw invalidField("sessionKey", "must not be sent: the operator has set hooks.allowRequestSessionKey to false");
  const fault = sessionKeyFault(requested, hooks.allowedSessionKeyPrefixes);
  if (fault) throw invalidField("sessionKey", fault);
  return requested;
}
