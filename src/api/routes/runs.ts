import Type, { type TSchema } from "typebox";
import { listRuns, readRequest, readRun } from "../../models/runs/readRuns.ts";
import { trackRetried } from "../../models/runs/trackRun.ts";
import { agentHook, mappedHook } from "../../shared/queue/definitions.ts";
import * as examples from "../examples/gateway.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const params = Type.Object({ runId: s.Identifier("Identifies the run. The response of the hook contains it.") });
const RunStatus = Type.Enum(["queued", "running", "completed", "failed", "dropped"], {
  title: "RunStatus",
  description: "`dropped`: the transform of the mapping decided that the request needs no run.",
});

const Run = Type.Object(
  {
    runId: Type.String({ description: "Identifies the run." }),
    kind: Type.Enum(["agent", "wake"], {
      description: "`agent`: a run of the agent. `wake`: an event for the main session.",
    }),
    name: s.nullable(Type.String(), { description: "Name from the request or the mapping, for people." }),
    sessionKey: s.nullable(Type.String(), {
      description: "The conversation of the run. Null if the request is authenticated with the hook token.",
    }),
    status: RunStatus,
    attempts: Type.Integer({ minimum: 0, description: "Number of attempts so far." }),
    reply: s.nullable(Type.String(), { description: "The answer of the agent; null until the run completes." }),
    replyCutOff: Type.Boolean({
      description: "Whether the end of the reply is missing, because the model reached its length limit.",
    }),
    error: s.nullable(
      Type.Object(
        {
          code: Type.String({ description: "One of the error codes at /docs/errors." }),
          message: Type.String({ description: "The problem and how to correct it." }),
        },
        closed,
      ),
      { description: "Why the run failed; null otherwise." },
    ),
    deliveries: Type.Array(s.Delivery, { description: "The deliveries of the reply to chat channels." }),
    createdAt: s.Timestamp("When the request was accepted."),
    startedAt: s.TimestampOrNull("When the latest attempt started."),
    endedAt: s.TimestampOrNull("When the run ended."),
  },
  { ...closed, title: "Run" },
);

const getRuns = route({
  method: "get",
  path: "/api/runs",
  operationId: "listRuns",
  tag: "runs",
  summary: "List runs",
  description:
    "Returns agent runs and wake events, newest first, with their replies and deliveries. Filter by status or session. The list ends when `nextCursor` is null.",
  example: examples.listRuns,
  schemas: {
    query: Type.Object(
      {
        status: Type.Optional(
          Type.Array(RunStatus, {
            minItems: 1,
            description: "Runs with this status. Repeat the parameter for several.",
          }),
        ),
        sessionKey: Type.Optional(s.Identifier("Runs of this conversation.")),
        ...s.idPaging,
      },
      closed,
    ),
  },
  answers: { 200: Type.Object({ runs: s.Rows(Run), nextCursor: s.nextCursor }, closed) },
  errors: [],
  async handler({ query }, { stores }) {
    const { limit = 100, ...rest } = query;
    return { status: 200, body: await listRuns(stores, { limit, ...rest }) };
  },
});

const getRun = route({
  method: "get",
  path: "/api/runs/:runId",
  operationId: "getRun",
  authContext: "api",
  tag: "runs",
  summary: "Get a run",
  description:
    "Returns the status, reply, error and deliveries of a run. The hook token is enough to read a single run, so that a sender can wait for the result of its own request.",
  example: examples.getRun,
  schemas: { params },
  answers: { 200: Run },
  errors: ["run_not_found"],
  async handler({ params, authContext }, { stores }) {
    const run = await readRun(stores, params.runId);
    return { status: 200, body: authContext.byHookToken ? { ...run, sessionKey: null } : run };
  },
});

const retryRun = route({
  method: "post",
  path: "/api/runs/:runId/retry",
  operationId: "retryRun",
  tag: "runs",
  summary: "Retry a failed run",
  description: "Queues a failed run again under the same runId (202). Other runs answer 409 `run_state_conflict`.",
  example: examples.retryRun,
  schemas: { params },
  answers: { 202: Run },
  errors: ["run_not_found", "run_state_conflict"],
  async handler({ params }, { stores, queues }) {
    const run = await stores.runs.retry(params.runId);
    const { _id, round, stage } = run;
    await trackRetried(stores, run);
    const queue = stage === "mapping" ? mappedHook : agentHook;
    await queues.add(queue, { runId: _id }, { jobId: `${_id}-round-${round}` });
    return { status: 202, body: await readRun(stores, _id) };
  },
});

const cancelRun = route({
  method: "post",
  path: "/api/runs/:runId/cancel",
  operationId: "cancelRun",
  tag: "runs",
  summary: "Cancel a run",
  description:
    "Ends a run that is queued or running; its error code becomes `cancelled`. A running agent is stopped within a few seconds. A run that has ended answers 409 `run_state_conflict`.",
  example: examples.cancelRun,
  schemas: { params },
  answers: { 200: Run },
  errors: ["run_not_found", "run_state_conflict"],
  async handler({ params }, { stores, queues }) {
    const { runId } = params;
    const { wasRunning } = await stores.runs.cancel(runId);
    if (!wasRunning) await queues.add(agentHook, { runId }, { jobId: `${runId}-cancelled` });
    return { status: 200, body: await readRun(stores, runId) };
  },
});

const optional = (schema: TSchema) => Type.Optional(schema);

const getRunRequest = route({
  method: "get",
  path: "/api/runs/:runId/request",
  operationId: "getRunRequest",
  tag: "runs",
  summary: "Get the request of a run",
  description:
    "Returns what a run received: the message and settings for the agent, and the body that a mapped hook received. Use it to find out why a run failed. The hook token cannot read it.",
  example: examples.getRunRequest,
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
            closed,
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
            closed,
          ),
          { description: "The request to the mapped hook; null for other runs." },
        ),
      },
      closed,
    ),
  },
  errors: ["run_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readRequest(stores, params.runId) };
  },
});

export const runRoutes = [getRuns, getRun, getRunRequest, retryRun, cancelRun];
