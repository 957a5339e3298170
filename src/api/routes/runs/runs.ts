import Type from "typebox";
import { cancelRun } from "../../../models/runs/cancel.ts";
import { readRequest, readRun } from "../../../models/runs/readRuns.ts";
import { ownWords } from "../../../models/runs/run.ts";
import { readWaitsFor, runAgain } from "../../../models/runs/runAgain.ts";
import { trackRetried } from "../../../models/runs/trackRun.ts";
import type { Stores } from "../../../models/stores.ts";
import { agentHook, mappedHook } from "../../../shared/queue/definitions.ts";
import * as s from "../../../wire/blocks.ts";
import { Run, RunReceipt, RunRequest } from "../../../wire/runs/run.ts";
import { HOOK_ACTOR } from "../../auth/apiAuth.ts";
import * as examples from "../../examples/gateway.ts";
import type { Awaited } from "../../live/waitingRequests.ts";
import { route } from "../../routing/route.ts";

const params = Type.Object({ runId: s.Identifier("Identifies the run. The response of the hook contains it.") });

const getRun = route({
  method: "get",
  path: "/api/runs/:runId",
  operationId: "getRun",
  scopes: ["runs:read"],
  authContext: "api",
  tag: "runs",
  summary: "Get a run, or wait for its end",
  description:
    "Returns the status, reply, error and deliveries of a run. The hook token is enough to read a single run, so that a sender can wait for the result of its own request.\n\nWith `Prefer: wait=30` the response is sent once the run has ended, and after 30 seconds at the latest. Repeat the request while `endedAt` is null.",
  example: examples.getRun,
  schemas: { params },
  canWait: true,
  answers: { 200: Run },
  errors: ["run_not_found"],
  async handler({ params: { runId }, authContext, wait }, { stores, waiting, clock }) {
    const { value: run, headers } = await waiting.until(wait, endOfRun(stores, runId));
    // The hook token must not reveal the ids of other senders' runs.
    if (authContext.actor === HOOK_ACTOR) return { status: 200, headers, body: viewForSender(run) };
    const waitsFor =
      run.status === "queued" || run.status === "waiting" ? await readWaitsFor(stores, runId, clock.now()) : undefined;
    return { status: 200, headers, body: { ...run, ...(waitsFor && { waitsFor }) } };
  },
});

/** Returns what a request for the end of a run waits for. */
export const endOfRun = (stores: Stores, runId: string): Awaited<Run> => ({
  record: { kind: "run", runId },
  readName: "run",
  read: () => readRun(stores, runId),
  isOver: ({ endedAt }) => endedAt !== null,
});

/** Returns a run as senders read it, who have the hook token: without its session and without the words of others. */
export function viewForSender({ stderr: _, missingValues: __, failedAttempts, ...run }: Run) {
  return {
    ...run,
    sessionKey: null,
    returnOf: [],
    error: run.error && ownWords(run.error),
    ...(failedAttempts && {
      failedAttempts: failedAttempts.map(({ stderr: _, ...failed }) => ({ ...failed, error: ownWords(failed.error) })),
    }),
  };
}

const retryRun = route({
  method: "post",
  path: "/api/runs/:runId/retry",
  operationId: "retryRun",
  scopes: ["runs:write"],
  tag: "runs",
  summary: "Retry a failed run",
  description: "Queues a failed run again under the same runId (202). Other runs answer 409 `run_state_conflict`.",
  example: examples.retryRun,
  schemas: { params },
  answers: { 202: Run },
  receipt: RunReceipt,
  errors: ["run_not_found", "run_state_conflict"],
  audit: ({ params }) => ({ action: "run.retry", target: params.runId }),
  async handler({ params }, { stores, queues }) {
    const run = await stores.runs.retry(params.runId);
    const { _id, round, stage } = run;
    await trackRetried(stores, run);
    const queue = stage === "mapping" ? mappedHook : agentHook;
    await queues.add(queue, { runId: _id }, { jobId: `${_id}-round-${round}` });
    return { status: 202, body: await readRun(stores, _id) };
  },
});

const again = route({
  method: "post",
  path: "/api/runs/:runId/again",
  operationId: "repeatRun",
  scopes: ["runs:write"],
  tag: "runs",
  summary: "Run again",
  description:
    "Starts a new run with the request of a run that has ended (202), and returns the new run. `againOf` links it to the old run, which stays as it was. The new run uses the same session, or one of its own if the old run had one, and delivers its reply to the same recipient. A run that failed in its mapping is mapped with the current configuration. A run that has not ended, an event of the main session, and a run whose request is no longer stored answer 409 `run_state_conflict`.\n\nUse `retry` instead to continue a failed run under the same `runId`.",
  example: examples.repeatRun,
  schemas: { params },
  answers: { 202: Run },
  receipt: RunReceipt,
  errors: ["run_not_found", "run_state_conflict"],
  audit: ({ params }) => ({ action: "run.again", target: params.runId }),
  async handler({ params }, { stores, queues }) {
    const { _id: runId, request } = await runAgain(stores, params.runId);
    await queues.add(request ? agentHook : mappedHook, { runId }, { jobId: runId });
    return { status: 202, headers: { Location: `/api/runs/${runId}` }, body: await readRun(stores, runId) };
  },
});

const cancel = route({
  method: "post",
  path: "/api/runs/:runId/cancel",
  operationId: "cancelRun",
  scopes: ["runs:write"],
  tag: "runs",
  summary: "Cancel a run",
  description:
    "Ends a run that is queued, waiting or running; its error code becomes `cancelled`. A running agent is stopped within a few seconds. The job of a run with `trackAsJob` is cancelled too. A run that has ended answers 409 `run_state_conflict`.",
  example: examples.cancelRun,
  schemas: { params },
  answers: { 200: Run },
  receipt: RunReceipt,
  errors: ["run_not_found", "run_state_conflict"],
  audit: ({ params }) => ({ action: "run.cancel", target: params.runId }),
  async handler({ params }, { stores, queues }) {
    const { runId } = params;
    const toFinalize = await cancelRun(stores, runId);
    if (toFinalize) await queues.add(agentHook, { runId }, { jobId: `${runId}-cancelled` });
    return { status: 200, body: await readRun(stores, runId) };
  },
});

const getRunRequest = route({
  method: "get",
  path: "/api/runs/:runId/request",
  operationId: "getRunRequest",
  scopes: ["runs:read"],
  tag: "runs",
  summary: "Get the request of a run",
  description:
    "Returns what a run received: the message and settings for the agent, and the body that a mapped hook received. Use it to find out why a run failed. The hook token cannot read it.",
  example: examples.getRunRequest,
  isLarge: () => true,
  schemas: { params },
  answers: {
    200: RunRequest,
  },
  errors: ["run_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readRequest(stores, params.runId) };
  },
});

export const runRoutes = [getRun, getRunRequest, retryRun, again, cancel];
