/// <reference lib="esnext.disposable" preserve="true" />
import { type Api, apiCalls, type Call, type CallOptions, type HookAccess } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { startDeadline, TIMED_OUT } from "./deadline.ts";
import { SignalboxError } from "./error.ts";
import { JobReporter } from "./job.ts";
import { type Assignment, StepReporter } from "./step.ts";
import { type LiveEvent, type WatchOptions, watch } from "./watch.ts";
import { type WatchedJob, watchJob } from "./watchJob.ts";

export type { CallOptions, HookOptions, JobChange } from "./api.ts";
export { type Fault, SignalboxError } from "./error.ts";
export type { JobReporter, StepPlace } from "./job.ts";
export type * from "./records.ts";
export type { Completion, Failure, RunOptions, Start, Update } from "./reporter.ts";
export type { Assignment, StepReporter } from "./step.ts";
export type { LiveEvent, Topic, WatchOptions } from "./watch.ts";
export type { WatchedJob } from "./watchJob.ts";

export interface ClientOptions extends ConnectionOptions, HookAccess {
  /**
   * How long something is tried again while the service is away. By default reports and the creation of jobs are tried
   * until they succeed, all other calls once. A POST is never sent again.
   */
  readonly retryForMs?: number | undefined;
  /**
   * Hears what nobody is thrown: each try in vain while the service is away (`isTransient`), and why a report was refused
   * for which nobody waited, such as one of progress.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Client extends Api {
  /** Makes a job and reports on it. Nothing is sent until something is reported. */
  job(jobId: string): JobReporter;
  /** Reports on a step that an orchestrator has assigned, in this process or in another. */
  step(assignment: Assignment): StepReporter;
  /** What happens, as it happens. */
  watch(options?: WatchOptions): AsyncGenerator<LiveEvent, void, undefined>;
  /** The states of a job until it ends. */
  watchJob(jobId: string, options?: CallOptions): AsyncGenerator<WatchedJob, void, undefined>;
  /**
   * Waits for reports on their way, so long (10 s by default), then gives up those that remain, and ends what watches.
   * @throws SignalboxError when a report was refused or given up
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const CLOSE_MS = 10_000;

export function createClient(options: ClientOptions): Client {
  const { retryForMs, onError = () => {} } = options;
  const closing = new AbortController();
  const closed = closing.signal;
  const context: ClientContext = {
    connection: connect(options, closed),
    closed,
    retryForMs: retryForMs ?? Number.POSITIVE_INFINITY,
    // On a stack of its own: what it throws must not disturb the reports that follow.
    onError: (error) => queueMicrotask(() => onError(error)),
    pending: new Set(),
  };
  const call: Call = (method, path, request) =>
    withRetry(context, method === "POST" ? 0 : (retryForMs ?? 0), method, path, request);

  const close = async ({ timeoutMs = CLOSE_MS } = {}) => {
    const deadline = startDeadline(timeoutMs, []);
    const ends = await Promise.allSettled([...context.pending].map((reports) => reports.flush(deadline.signal)));
    deadline.end();
    const reason = new SignalboxError(0, "closed", "The client was closed.");
    closing.abort(reason);
    for (const reports of context.pending) reports.discard(reason);
    const failed = ends.find((end) => end.status === "rejected")?.reason;
    if (failed) throw failed === TIMED_OUT ? reason : failed;
  };

  return {
    ...apiCalls(call, options),
    job: (jobId) => new JobReporter(jobId, context),
    step: (assignment) => new StepReporter(assignment, context),
    watch: (what = {}) => watch(context, what),
    watchJob: (jobId, what = {}) => watchJob(context, jobId, what),
    close,
    [Symbol.asyncDispose]: close,
  };
}
