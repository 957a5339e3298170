/// <reference lib="esnext.disposable" preserve="true" />
import type { Api, Call, CallOptions, HookAccess, Wait } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { startDeadline, TIMED_OUT } from "./deadline.ts";
import { runEnvironment } from "./environment.ts";
import { SignalboxError } from "./error.ts";
import { JobReporter } from "./job.ts";
import { type Assignment, StepReporter } from "./step.ts";
import type { LiveEvent, RunEvent, WatchOptions } from "./watch.ts";
import type { WatchedJob } from "./watchJob.ts";

export type { CallOptions, HookOptions } from "./api.ts";
export { CancelledError, type Fault, SignalboxError } from "./error.ts";
export type { Answer, Question } from "./gate.ts";
export type { JobReporter, ParallelStep, StepPlace } from "./job.ts";
export type * from "./records/deliveries.ts";
export type * from "./records/gates.ts";
export type * from "./records/jobs.ts";
export type * from "./records/options.ts";
export type * from "./records/runs.ts";
export type * from "./records/service.ts";
export type * from "./records/sessions.ts";
export type { Completion, Failure, RunOptions, Start, Update } from "./reporter.ts";
export type { Assignment, StepReporter } from "./step.ts";
export type { LiveEvent, RunEvent, Topic, WatchOptions } from "./watch.ts";
export type { WatchedJob } from "./watchJob.ts";

export interface ClientOptions
  extends Partial<Pick<ConnectionOptions, "url">>,
    Omit<ConnectionOptions, "url">,
    HookAccess {
  /**
   * How long a failed request is retried while the service is unavailable. By default reports, the creation of jobs
   * and waits are retried until they succeed, and other calls are not retried. A POST is never retried.
   */
  readonly retryForMs?: number | undefined;
  /**
   * Receives the errors that no call throws: those of retried requests (`isTransient`), and those of rejected reports
   * that nobody waited for, such as progress. By default they are warnings on the console.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Client extends Api {
  /**
   * Returns a reporter that creates a job and reports on it. Sends nothing by itself.
   * @param jobId by default that of the agent run in which the program runs (`SIGNALBOX_JOB_ID`)
   */
  job(jobId?: string): JobReporter;
  /** Returns a reporter for a step that an orchestrator assigned, in this process or in another. */
  step(assignment: Assignment): StepReporter;
  /** Yields live events. */
  watch(options?: WatchOptions): AsyncGenerator<LiveEvent, void, undefined>;
  /** Yields the states of a job until it ends. */
  watchJob(jobId: string, options?: CallOptions): AsyncGenerator<WatchedJob, void, undefined>;
  /** Yields what the agent of a run does, until the run has ended. */
  watchRun(runId: string, options?: CallOptions): AsyncGenerator<RunEvent, void, undefined>;
  /**
   * Waits at most `timeoutMs` (10 s by default) for unsent reports, discards the rest, and ends all watches.
   * @throws SignalboxError when a report was rejected or discarded
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

interface Calls {
  (...args: unknown[]): unknown;
  [name: string]: Calls;
}

/** Returns the calls of the API below a path such as `jobs`. Their code is loaded at the first call. */
function lazyCalls(load: () => Promise<Calls>, path: readonly string[]): Calls {
  return new Proxy((() => {}) as unknown as Calls, {
    get(own, name: string) {
      // A promise that resolves to such an object looks for its `then`.
      if (name !== "then") own[name] ??= lazyCalls(load, [...path, name]);
      return own[name];
    },
    apply: async (_own, _this, args) => path.reduce((calls, name) => calls[name] as Calls, await load())(...args),
  });
}

/**
 * Returns the connection of a client. Without a URL, or with that of `SIGNALBOX_URL`, an agent run has the token of the run.
 * @throws TypeError without any URL
 */
function connectionOf({ url, token, ...options }: ClientOptions): ConnectionOptions {
  const { SIGNALBOX_URL, SIGNALBOX_TOKEN } = runEnvironment();
  const address = url ?? SIGNALBOX_URL;
  if (address === undefined) throw new TypeError("url is required: pass it, or set SIGNALBOX_URL.");
  return { ...options, url: address, token: token ?? (address === SIGNALBOX_URL ? SIGNALBOX_TOKEN : undefined) };
}

export function createClient(options: ClientOptions = {}): Client {
  // biome-ignore lint/suspicious/noConsole: nobody else would say why a program with a wrong address waits.
  const { retryForMs, onError = (error) => console.warn(`${error}`) } = options;
  const closing = new AbortController();
  const closed = closing.signal;
  const context: ClientContext = {
    connection: connect(connectionOf(options), closed),
    closed,
    retryForMs: retryForMs ?? Number.POSITIVE_INFINITY,
    // Runs in its own microtask: an exception in it must not stop the reports that follow.
    onError: (error) => queueMicrotask(() => onError(error)),
    pending: new Set(),
  };
  const call: Call = (method, path, request) =>
    withRetry(context, method === "POST" ? 0 : (retryForMs ?? 0), method, path, request);

  // Most programs only report, so that waiting and watching are loaded when they are first used.
  const wait: Wait = async (...args) => (await import("./wait.ts")).waitForEnd(context, ...args);

  const close = async ({ timeoutMs = 10_000 } = {}) => {
    const deadline = startDeadline(timeoutMs, []);
    const flushed = Array.from(context.pending, (reports) => reports.flush(deadline.signal));
    const settled = await Promise.allSettled(flushed);
    const failure = (settled as { reason?: unknown }[]).find((one) => one.reason)?.reason;
    deadline.end();
    const reason = new SignalboxError(0, "closed", "The client was closed.");
    closing.abort(reason);
    for (const reports of context.pending) reports.reject(reason);
    if (failure) throw failure === TIMED_OUT ? reason : failure;
  };

  const load = async () => (await import("./api.ts")).apiCalls(call, wait, options) as unknown as Calls;
  const groups = "jobs gates stats runs deliveries notify sessions channels gmail audit hooks access".split(" ");
  const calls = Object.fromEntries(groups.map((name) => [name, lazyCalls(load, [name])])) as unknown as Api;

  return {
    ...calls,
    call,
    job: (jobId = runEnvironment().SIGNALBOX_JOB_ID ?? "") => new JobReporter(jobId, context),
    step: (assignment) => new StepReporter(assignment, context),
    async *watch(watchOptions) {
      yield* (await import("./watch.ts")).watch(context, watchOptions);
    },
    async *watchJob(jobId, callOptions) {
      yield* (await import("./watchJob.ts")).watchJob(context, jobId, callOptions);
    },
    async *watchRun(runId, callOptions) {
      yield* (await import("./watch.ts")).watchRun(context, runId, callOptions);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
