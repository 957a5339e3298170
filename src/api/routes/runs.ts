import Type, { type TSchema } from "typebox";
import { listRuns, readRequest, readRun } from "../../models/runs/readRuns.ts";
import { trackRetried } from "../../models/runs/trackRun.ts";
import { agentHook, mappedHook } from "../../shared/queue/definitions.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const params = Type.Object({ runId: s.Identifier("The runId that the hook answered with.") });
const RunStatus = Type.Enum(["queued", "running", "completed", "failed", "dropped"], { title: "RunStatus" });

const Run = Type.Object(
  {
    runId: Type.String(),
    kind: Type.Enum(["agent", "wake"], { description: "`wake`: an event of the main session." }),
    name: s.nullable(Type.String()),
    sessionKey: s.nullable(Type.String(), { description: "Null for the hook token." }),
    status: RunStatus,
    attempts: Type.Integer({ minimum: 0 }),
    reply: s.nullable(Type.String()),
    error: s.nullable(Type.Object({ code: Type.String(), message: Type.String() }, closed)),
    deliveries: Type.Array(s.Delivery),
    createdAt: s.Timestamp("When it was accepted."),
    startedAt: s.TimestampOrNull("When its latest try began."),
    endedAt: s.TimestampOrNull("When it ended."),
  },
  { ...closed, title: "Run" },
);

const getRuns = route({
  method: "get",
  path: "/api/runs",
  operationId: "listRuns",
  tag: "runs",
  summary: "Runs of hooks, newest first",
  schemas: {
    query: Type.Object(
      {
        status: Type.Optional(Type.Array(RunStatus, { minItems: 1, description: "May be repeated: any of them." })),
        sessionKey: Type.Optional(s.Identifier("Runs of this session.")),
        ...s.idPaging,
      },
      closed,
    ),
  },
  answers: { 200: Type.Object({ runs: Type.Array(Run), nextCursor: s.nextCursor }, closed) },
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
  summary: "What became of a run",
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
  summary: "Begin a failed run anew",
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
  summary: "End a run that has not ended; one under way is aborted within seconds",
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
  summary: "What came for a run, and what the agent was asked",
  description: "Not for the hook token.",
  schemas: { params },
  answers: {
    200: Type.Object(
      {
        request: s.nullable(
          Type.Object(
            {
              message: Type.String(),
              wakeMode: Type.String(),
              deliver: Type.Boolean(),
              channel: Type.String(),
              to: s.nullable(Type.String()),
              model: s.nullable(Type.String()),
              thinking: s.nullable(Type.String()),
              timeoutSeconds: Type.Number(),
              trackAsJob: Type.Boolean(),
              instructions: optional(Type.String({ description: "The operator's own words before the message." })),
              allowUnsafe: optional(Type.Boolean({ description: "The message is the prompt as it is." })),
            },
            closed,
          ),
          { description: "Null before the mapping made it, and for an event of the main session." },
        ),
        call: s.nullable(
          Type.Object(
            {
              mapping: Type.String(),
              path: s.nullable(Type.String()),
              payload: Type.Unsafe<unknown>({
                description: "The body; null once the mapping has made a request of it.",
              }),
            },
            closed,
          ),
          { description: "What a mapped hook was sent; null for other runs." },
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
