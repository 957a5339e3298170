import { type JobDoc, jobTrace } from "../../models/jobs/job.ts";
import { type RunDoc, runTrace } from "../../models/runs/run.ts";
import { childSpanId, readTraceparent, type TraceContext } from "../../shared/traceContext.ts";
import { OTHER_ERROR, type Result } from "./jobSpans.ts";
import { type Attributes, INTERNAL, SERVER, type SpanFields } from "./span.ts";

/** The part of a job that decides its trace. */
export type TracedJob = Pick<JobDoc, "_id" | "jobId" | "createdAt" | "startedAt" | "traceparent">;

interface EndedRun {
  /** The run as it was at its end. */
  readonly run: RunDoc;
  /** The job that shows it; undefined if none does. */
  readonly job: TracedJob | undefined;
  readonly end: Date;
  /** Its page. */
  readonly url: string;
  /** The runner that the configuration names. */
  readonly runner: string;
  /** The model of a run that names none. */
  readonly model: string | undefined;
}

/** The name of the step of a job that shows a run. */
const TURN = "Agent turn";

/** Returns the trace that a run is a part of: that of its job, or one of its own. */
export const traceOf = (run: RunDoc, job: TracedJob | undefined): TraceContext => (job ? jobTrace(job) : runTrace(run));

/**
 * Yields the spans of a round of a run that has ended. Of a run that a job shows, it is one span below that of the job, whose
 * steps are its attempts. Of another one, it is the root of a trace, with a span for each attempt that is stored.
 */
export function* runSpans({ run, job, end, url, runner, model }: EndedRun): Generator<SpanFields> {
  const { traceId, spanId: rootId } = traceOf(run, job);
  const result = resultOf(run);
  const tries = triesOf(run, end);
  const start = run.round === 0 ? run.createdAt : (tries[0]?.startedAt ?? end);
  const name = run.name ?? undefined;
  const common = { start, end, ...outcomeOf(result, run.error?.code) };
  const genAi = genAiAttributes(run, runner, model);
  const title = name === undefined ? "invoke_agent" : `invoke_agent ${name}`;
  if (job) {
    const spanId = childSpanId(traceId, "run", run._id, run.round);
    const attributes = { ...genAi, "error.type": common.errorType };
    yield { ...common, traceId, spanId, parentSpanId: rootId, name: title, kind: INTERNAL, attributes };
    return;
  }
  yield {
    ...common,
    traceId,
    spanId: rootId,
    name: title,
    kind: SERVER,
    link: readTraceparent(run.traceparent),
    attributes: {
      "cicd.pipeline.name": name ?? TURN,
      "cicd.pipeline.run.id": run._id,
      "cicd.pipeline.run.url.full": url,
      "cicd.pipeline.result": result,
      ...genAi,
      "error.type": common.errorType,
    },
  };
  for (const { attempt, startedAt, endedAt, code } of tries) {
    const own = resultOf(
      code === undefined ? { status: "completed", error: null } : { status: "failed", error: { code } },
    );
    const outcome = outcomeOf(own, code);
    yield {
      traceId,
      spanId: childSpanId(traceId, "attempt", attempt),
      parentSpanId: rootId,
      name: TURN,
      kind: INTERNAL,
      start: startedAt,
      end: endedAt,
      isFailed: outcome.isFailed,
      attributes: {
        "cicd.pipeline.task.name": TURN,
        "cicd.pipeline.task.run.id": `${run._id}-${run.round}-${attempt}`,
        "cicd.pipeline.task.run.url.full": url,
        "cicd.pipeline.task.run.result": own,
        "error.type": outcome.errorType,
      },
    };
  }
}

function resultOf({
  status,
  error,
}: {
  readonly status: string;
  readonly error: { readonly code: string } | null;
}): Result {
  if (status === "completed") return "success";
  switch (error?.code) {
    case "cancelled":
      return "cancellation";
    case "timeout":
      return "timeout";
    case "agent_unavailable":
    case "internal":
      return "error";
    default:
      return "failure";
  }
}

const outcomeOf = (result: Result, code: string | undefined) => {
  const isFailed = result !== "success" && result !== "cancellation";
  return { isFailed, errorType: isFailed ? (code ?? OTHER_ERROR) : undefined };
};

/**
 * Returns the stored tries of the latest round, oldest first: the failed ones, and the one that ended the run otherwise. Numbers
 * begin again with each round.
 */
function triesOf({ failedTries = [], attempts, status, startedAt, error }: RunDoc, end: Date) {
  const failed = failedTries.map(({ error, ...one }) => ({ ...one, code: error.code as string | undefined }));
  const isLastFailed = failed.at(-1)?.startedAt.getTime() === startedAt?.getTime();
  const next = isLastFailed ? attempts + 1 : attempts;
  const first = failed.findLastIndex(({ attempt }, i) => attempt >= (failed[i + 1]?.attempt ?? next)) + 1;
  const ofRound = failed.slice(first);
  if (startedAt === null || attempts === 0 || isLastFailed) return ofRound;
  const last = { attempt: attempts, startedAt, endedAt: end, code: status === "completed" ? undefined : error?.code };
  return [...ofRound, last];
}

/** The conventions for agents: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/ */
const genAiAttributes = (
  { name, request, usage = {} }: RunDoc,
  runner: string,
  model: string | undefined,
): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.provider.name": runner,
  "gen_ai.agent.id": request?.agentId,
  "gen_ai.agent.name": name ?? undefined,
  "gen_ai.request.model": request?.model ?? model,
  "gen_ai.usage.input_tokens": usage.inputTokens,
  "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
  "gen_ai.usage.output_tokens": usage.outputTokens,
  "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
});
