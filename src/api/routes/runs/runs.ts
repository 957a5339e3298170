import Type, { type TSchema } from "typebox";
import { cancelRun } from "../../../models/runs/cancel.ts";
import { type RunView, readRequest, readRun } from "../../../models/runs/readRuns.ts";
import { ownWords } from "../../../models/runs/run.ts";
import { runAgain } from "../../../models/runs/runAgain.ts";
import { trackRetried } from "../../../models/runs/trackRun.ts";
import { readWaitsFor } from "../../../models/runs/waitsFor.ts";
import type { Stores } from "../../../models/stores.ts";
import { agentHook, mappedHook } from "../../../shared/queue/definitions.ts";
import * as s from "../../../wire/blocks.ts";
import { HOOK_ACTOR } from "../../auth/apiAuth.ts";
import * as examples from "../../examples/gateway.ts";
import type { Awaited } from "../../live/waitingRequests.ts";
import { route } from "../../route.ts";
import { Delivery } from "../../schemas/delivery.ts";
import { Usage } from "../../schemas/usage.ts";

const closed = { additionalProperties: false } as const;
const params = Type.Object({ runId: s.Identifier("Identifies the run. The response of the hook contains it.") });
export const RunStatus = Type.Enum(["queued", "running", "completed", "failed", "dropped"], {
  title: "RunStatus",
  description: "`dropped`: the transform of the mapping decided that the request needs no run.",
});

export const RunError = Type.Object(
  {
    code: Type.String({ description: "One of the error codes at /docs/errors." }),
    message: Type.String({
      description:
        "The problem and how to correct it. A second line holds the words of the model server; a request with the hook token does not get it.",
    }),
  },
  s.named("RunError"),
);

/** Returns the schema of placeholders without a value. */
export const MissingValues = (description: string) =>
  Type.Array(
    Type.Object(
      {
        path: Type.String({ description: "The path between the braces of the template." }),
        didYouMean: s.nullable(Type.String(), {
          description: "The path of a value of the request that is spelled alike; null if there is none.",
        }),
      },
      s.named("MissingValue"),
    ),
    { description },
  );

const Stderr = (description: string) => Type.Optional(Type.String({ description }));

const WaitsFor = Type.Object(
  {
    kind: Type.Enum(["run", "session", "time", "worker"], {
      description:
        "`run`: an earlier run of the session. `session`: another turn in the session. `time`: the pause after a failed attempt. `worker`: a worker with a free place.",
    }),
    runId: s.nullable(Type.String(), {
      description: "The earliest run of the session that has not ended; null unless `kind` is `run`.",
    }),
    notBefore: s.TimestampOrNull("The earliest time of the next attempt; null unless `kind` is `time`."),
  },
  {
    ...closed,
    title: "WaitsFor",
    description:
      "Why the run has not started. Only in the response for a single run that is queued, and not with the hook token.",
  },
);

const head = {
  runId: Type.String({ description: "Identifies the run." }),
  kind: Type.Enum(["agent", "wake"], {
    title: "RunKind",
    description: "`agent`: a run of the agent. `wake`: an event for the main session.",
  }),
  name: s.nullable(Type.String(), { description: "Name from the request or the mapping, for people." }),
  mapping: s.nullable(Type.String(), {
    description: "Name of the mapping that made the run; null for a request to the agent hook.",
  }),
  sessionKey: s.nullable(Type.String(), {
    description: "The conversation of the run. Null if the request is authenticated with the hook token.",
  }),
  status: RunStatus,
  attempts: Type.Integer({ minimum: 0, description: "Number of attempts so far." }),
  error: s.nullable(RunError, { description: "Why the run failed; null otherwise." }),
  createdAt: s.Timestamp("When the request was accepted."),
  startedAt: s.TimestampOrNull("When the latest attempt started."),
  endedAt: s.TimestampOrNull("When the run ended."),
};

/** A run as the live events show it. */
export const RunHead = Type.Object(head, s.named("RunHead"));

/** A changed run for a caller that may not read runs. */
const RunReceipt = {
  unless: "runs:read",
  schema: Type.Pick(RunHead, ["runId", "status", "createdAt", "startedAt", "endedAt"], s.named("RunReceipt")),
} as const;

const FailedRunAttempt = s.FailedAttempt(
  "FailedRunAttempt",
  { ...RunError, description: "Why the attempt failed." },
  { stderr: Stderr("The end of what the program of this attempt wrote to standard error, at most 4 KiB.") },
);

export const Run = Type.Object(
  {
    ...head,
    reply: s.nullable(Type.String(), { description: "The answer of the agent; null until the run completes." }),
    replyCutOff: Type.Boolean({
      description: "Whether the end of the reply is missing, because the model reached its length limit.",
    }),
    usage: Usage(
      "Sum of what all attempts used, failed ones included, as the model server or the program reported it. Null if nothing was reported.",
    ),
    deliveries: Type.Array(Delivery, { description: "The deliveries of the reply to chat channels." }),
    requestId: s.nullable(Type.String(), {
      description:
        "The kept request that the run was made of: `GET /api/hooks/requests/{requestId}`. Null if it was not kept.",
    }),
    replayOf: s.nullable(Type.String(), {
      description: "The kept request of which the run is a replay; null for other runs.",
    }),
    againOf: s.nullable(Type.String(), {
      description: "The `runId` of the ended run whose request this run repeats; null for other runs.",
    }),
    failedAttempts: s.FailedAttempts(
      FailedRunAttempt,
      "The latest 20 failed attempts, oldest first. Only in the response for a single run, if an attempt has failed.",
    ),
    missingValues: Type.Optional(
      MissingValues(
        "The placeholders of the mapping that had no value, at most 20. Only in the response for a single run, if there are any, and not with the hook token.",
      ),
    ),
    stderr: Stderr(
      "The end of what the program of the latest attempt wrote to standard error, at most 4 KiB, with the values of its variables masked. Only in the response for a single run, if it wrote something, and not with the hook token.",
    ),
    waitsFor: Type.Optional(WaitsFor),
  },
  s.named("Run"),
);

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
    const waitsFor = run.status === "queued" ? await readWaitsFor(stores, runId, clock.now()) : undefined;
    return { status: 200, headers, body: { ...run, ...(waitsFor && { waitsFor }) } };
  },
});

/** Returns what a request for the end of a run waits for. */
export const endOfRun = (stores: Stores, runId: string): Awaited<RunView> => ({
  record: { kind: "run", runId },
  readName: "run",
  read: () => readRun(stores, runId),
  isOver: ({ endedAt }) => endedAt !== null,
});

/** Returns a run as senders read it, who have the hook token: without its session and without the words of others. */
export function viewForSender({ stderr: _, missingValues: __, failedAttempts, ...run }: RunView) {
  return {
    ...run,
    sessionKey: null,
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
    "Ends a run that is queued or running; its error code becomes `cancelled`. A running agent is stopped within a few seconds. The job of a run with `trackAsJob` is cancelled too. A run that has ended answers 409 `run_state_conflict`.",
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

const optional = (schema: TSchema) => Type.Optional(schema);

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
    200: Type.Object(
      {
        request: s.nullable(
          Type.Object(
            {
              message: Type.String({ description: "The message for the agent." }),
              wakeMode: Type.String({ description: "When the main session reads the summary of the run." }),
              deliver: Type.Boolean({ description: "Whether the reply is sent to a channel." }),
              channel: Type.String({ description: "The channel for the reply, or `last`." }),
              to: s.nullable(Type.String(), { description: "The recipient; null means that of the main session." }),
              model: s.nullable(Type.String(), { description: "The model; null means the configured default." }),
              thinking: s.nullable(Type.String(), { description: "The reasoning effort; null means the default." }),
              timeoutSeconds: Type.Number({ description: "Time limit of one attempt." }),
              trackAsJob: Type.Boolean({ description: "Whether the run is also a job." }),
              instructions: optional(
                Type.String({ description: "Instructions of the operator, which precede the message." }),
              ),
              allowUnsafe: optional(
                Type.Boolean({
                  description: "True if the message is used as the prompt without the fence for untrusted content.",
                }),
              ),
            },
            s.named("AgentRequest"),
          ),
          { description: "Null until the mapping has been applied, and for an event of the main session." },
        ),
        call: s.nullable(
          Type.Object(
            {
              mapping: Type.String({ description: "Name of the mapping." }),
              path: s.nullable(Type.String(), { description: "Name of the hook in the URL." }),
              payload: Type.Unsafe<unknown>({
                description: "The body of the request; null after the mapping has been applied.",
              }),
            },
            s.named("HookCall"),
          ),
          { description: "The request to the mapped hook; null for other runs." },
        ),
      },
      s.named("RunRequest"),
    ),
  },
  errors: ["run_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readRequest(stores, params.runId) };
  },
});

export const runRoutes = [getRun, getRunRequest, retryRun, again, cancel];
