import type { CallOptions } from "./api.ts";
import { isTransient } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { onAbort } from "./deadline.ts";
import { CancelledError, SignalboxError } from "./error.ts";
import type { Job } from "./records/jobs.ts";
import { createReportQueue, type Report, type ReportQueue } from "./reportQueue.ts";

/** A change of the state while the work runs. */
export interface Update {
  /** The progress, 0–100. Values outside are clamped; a value that is not a number is ignored. */
  readonly progress?: number | undefined;
  /** Truncated to the service's limit of 65,536 characters; a value that is not a string is ignored. */
  readonly message?: string | undefined;
  readonly output?: object | undefined;
}

export interface Start extends CallOptions {
  readonly progress?: number | undefined;
}

export interface Completion extends CallOptions {
  readonly output?: object | undefined;
  readonly message?: string | undefined;
}

export interface Failure extends CallOptions {
  /** The results that a failed attempt leaves for the next one. */
  readonly output?: object | undefined;
  /** Whether the failure of a step also fails its job. */
  readonly failJob?: boolean | undefined;
}

export interface RunOptions extends CallOptions {
  /** The message of the start. */
  readonly startMessage?: string | undefined;
  /** The message of the completion. */
  readonly message?: string | undefined;
  readonly failJob?: boolean | undefined;
}

type CancelListener = (error: CancelledError) => void;

/** How often `onCancel` reads the job. */
const CANCEL_POLL_MS = 5_000;
const MAX_REASON_CHARS = 1_000;
/** The service's limit: it rejects the whole report, including a completion, if the message is longer. */
const MAX_MESSAGE_CHARS = 65_536;

/**
 * Reports on one job or step. Await start, complete and fail: they resolve once the service has accepted the report,
 * and retry while the service is unavailable. The other methods return at once and never throw.
 */
export abstract class Reporter {
  declare protected readonly reports: ReportQueue;
  readonly #needsOutput: boolean;
  readonly #listeners = new Set<CancelListener>();
  declare protected readonly context: ClientContext;
  declare protected readonly jobPath: string;

  /**
   * @param path the path that its reports are sent to
   * @param needsOutput whether its completion also completes the job
   * @param jobPath the path of the job; absent for a job
   * @param toBody converts a step's report to a request body, and makes the first report set the status `running`;
   *   absent for a job, whose reports are the bodies
   */
  constructor(
    path: string,
    context: ClientContext,
    needsOutput: boolean,
    jobPath = path,
    toBody = (report: Report): object => ({ ...report, failJob: undefined }),
  ) {
    this.jobPath = jobPath;
    const put = async (report: Report) => {
      const { cancelRequested } = await context.connection.call<Partial<Job>>("PUT", path, { body: toBody(report) });
      if (cancelRequested && this.#listeners.size) await this.#findCancel().catch(() => this.#cancel(null));
    };
    this.reports = createReportQueue(put, context, path !== jobPath);
    this.#needsOutput = needsOutput;
    this.context = context;
  }

  /**
   * Reports the start, or the restart, of the work at `progress`, 0 by default.
   * @throws SignalboxError when the service rejects the report
   */
  start(message?: string, { progress = 0, signal }: Start = {}): Promise<void> {
    return this.reports.send({ status: "running", progress, message: textOf(message) }, false, signal);
  }

  /** Reports the progress, 0–100. Call it for every item: it is sent at every five points or after some seconds. */
  progress(progress: number, message?: string): void {
    this.update({ progress, message });
  }

  /** Reports what is being done. Sent at once, or within a second of the previous report. */
  message(message: string): void {
    this.update({ message });
  }

  update(update: Update): void {
    const { progress, message, output }: Update = Object(update);
    const given = /^(number|bigint|string)$/.test(typeof progress) ? Number(progress) : Number.NaN;
    const points = Math.min(100, Math.max(0, given));
    this.reports.add({
      progress: points >= 0 ? points : undefined, // NaN is not
      message: textOf(message)?.slice(0, MAX_MESSAGE_CHARS),
      output,
    });
  }

  /**
   * Reports the completion. A job, and the step whose range ends at 100, require an output.
   * @throws SignalboxError when the service rejects the report
   */
  async complete({ output, message, signal }: Completion = {}): Promise<void> {
    if (this.#needsOutput && !output) {
      const detail = "output is required: this completes the job.";
      throw new SignalboxError(400, "output_required", detail);
    }
    await this.reports.send({ status: "completed", progress: 100, message: textOf(message), output }, true, signal);
  }

  /**
   * Reports the failure; the progress stays as it is.
   * @param reason the message, or an error with a message
   */
  async fail(reason: unknown, { output, failJob, signal }: Failure = {}): Promise<void> {
    const report = {
      status: "failed",
      message: errorText(reason),
      output,
      failJob: Boolean(failJob) || undefined,
    } as const;
    await this.reports.send(report, true, signal);
  }

  /**
   * Resolves once the service has accepted all reports so far.
   * @throws SignalboxError when the service rejected the last one
   */
  flush({ signal }: CallOptions = {}): Promise<void> {
    return this.reports.flush(signal);
  }

  /**
   * Calls the listener once when cancellation of the job is requested: for work that reports rarely. Besides what the
   * answers to reports say, reads the job every five seconds until it has ended.
   * @returns a function that stops it
   */
  onCancel(listener: CancelListener, everyMs = CANCEL_POLL_MS): () => void {
    const { closed, onError } = this.context;
    const poll = async () => {
      const isOver = await this.#findCancel().catch((error) => {
        // A token that may not read the job still receives the request with the answers to its reports.
        if (Object(error).code === "forbidden") return void clearInterval(timer);
        if (!closed.aborted) onError(error);
        return closed.aborted || !isTransient(error);
      });
      if (isOver) stop();
    };
    const timer = setInterval(poll, everyMs);
    (timer as { unref?(): void }).unref?.();
    const stop = () => {
      clearInterval(timer);
      this.#listeners.delete(listener);
    };
    this.#listeners.add(listener);
    return stop;
  }

  /** Reads the job, and calls the listeners if its cancellation is requested. @returns whether that, or its end, has come */
  async #findCancel(): Promise<boolean> {
    const { cancel, status } = await this.context.connection.call<Job>("GET", this.jobPath);
    if (cancel) this.#cancel(cancel.reason);
    return !!cancel || status !== "running";
  }

  /** Calls each listener once, in its own microtask: an exception in it must not stop the reports that follow. */
  #cancel(reason: string | null): void {
    for (const listener of this.#listeners) queueMicrotask(() => listener(new CancelledError(reason)));
    this.#listeners.clear();
  }

  /**
   * Reports the start, does the work, and reports the completion with the output that the work returned. If the work
   * throws, reports the failure with the error's message and throws the error again. The work's signal is aborted with
   * the given one, and with a CancelledError when the answer to a report says that cancellation was requested. A
   * failure after that is reported as "Aborted: …" or, with `failJob`, as "Cancelled: …".
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: work may return nothing
  async run<Output extends object | undefined | void>(
    work: (reporter: this, signal: AbortSignal) => Output | Promise<Output>,
    { startMessage, message, failJob, signal: given }: RunOptions = {},
  ): Promise<Output> {
    given?.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (reason: unknown) => controller.abort(reason);
    const removeListener = onAbort(given, () => abort(given?.reason));
    this.#listeners.add(abort);
    const reportFailure = (error: unknown) => {
      // A gate throws a CancelledError without a report that says so.
      const { aborted, reason = error } = signal;
      const isCancelled = reason instanceof CancelledError;
      const why = aborted && !isCancelled ? `Aborted: ${errorText(reason)}` : reason;
      return this.fail(why, { failJob: isCancelled || failJob }).catch(this.context.onError);
    };
    let phase: "start" | "work" | "end" = "start";
    try {
      await this.start(startMessage, { signal: given });
      phase = "work";
      signal.throwIfAborted();
      const output = await work(this, signal);
      phase = "end";
      this.#listeners.delete(abort);
      await this.complete({ output: output ?? undefined, message });
      return output;
    } catch (error) {
      // Work that is done has not failed because the service is unavailable.
      if (phase === "work" || (phase === "end" && !isTransient(error))) await reportFailure(error);
      // The report of the start is still sent, and must not be the last one.
      else if (phase === "start" && signal.aborted) void reportFailure(error);
      throw error;
    } finally {
      this.#listeners.delete(abort);
      removeListener();
    }
  }
}

/** Untyped JavaScript may pass other values as a message, and the service would reject the whole report. */
const textOf = (message: unknown): string | undefined => (typeof message === "string" ? message : undefined);

/** Returns the error's message without its stack, truncated. */
function errorText(reason: unknown): string {
  try {
    const { message, name } = Object(reason) as Partial<Error>;
    return String(message || name || reason).slice(0, MAX_REASON_CHARS);
  } catch {
    return "Unknown error"; // such as an object without a prototype, which has no text
  }
}
