import type { CallOptions } from "./api.ts";
import { isTransient } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { SignalboxError } from "./error.ts";
import { createReportQueue, type Report, type ReportQueue } from "./reportQueue.ts";

/** What there is to say while it runs. */
export interface Update {
  /** 0–100. What lies outside is brought to the nearer end, what is no number is left out. */
  readonly progress?: number | undefined;
  /** Cut to what the service takes, 65,536 characters; what is no text is left out. */
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
  /** What a failed attempt leaves behind for the next one. */
  readonly output?: object | undefined;
  /** Of a step: the job has failed, too. */
  readonly failJob?: boolean | undefined;
}

export interface RunOptions extends CallOptions {
  /** Said when it begins, and when it is completed. */
  readonly startMessage?: string | undefined;
  readonly message?: string | undefined;
  readonly failJob?: boolean | undefined;
}

const MAX_REASON_CHARS = 1_000;
/** With a longer one the service refuses the whole report, and the completion that goes with it. */
const MAX_MESSAGE_CHARS = 65_536;

/**
 * Reports on one job or step. start, complete and fail are to be awaited: they resolve once the service has taken the
 * report, and try for as long as it is away. The others return at once and never throw.
 */
export abstract class Reporter {
  readonly #reports: ReportQueue;
  readonly #needsOutput: boolean;
  protected readonly context: ClientContext;

  /**
   * @param path where its reports go
   * @param needsOutput whether its completion is that of the job
   * @param toBody what is sent of a report that is one of a step; a job's goes as it is, and does not say that the job runs
   */
  constructor(path: string, context: ClientContext, needsOutput: boolean, toBody?: (report: Report) => object) {
    const send = (report: Report) => context.connection.call("PUT", path, { body: toBody ? toBody(report) : report });
    this.#reports = createReportQueue(send, context, Boolean(toBody));
    this.#needsOutput = needsOutput;
    this.context = context;
  }

  /** It begins, or begins again, at 0 or where an earlier attempt has left it. @throws SignalboxError when it is refused */
  start(message?: string, { progress = 0, signal }: Start = {}): Promise<void> {
    return this.#reports.send({ status: "running", progress, message }, false, signal);
  }

  /** How far it is, 0–100. May be called for every item: sent every five points, or after some seconds. */
  progress(progress: number, message?: string): void {
    this.update({ progress, message });
  }

  /** What it is at. Sent at once, or within a second of the report before. */
  message(message: string): void {
    this.update({ message });
  }

  update({ progress = Number.NaN, message, output }: Update): void {
    const points = Number.isNaN(progress) ? undefined : Math.min(100, Math.max(0, progress));
    this.#reports.enqueue({ progress: points, message: message?.slice?.(0, MAX_MESSAGE_CHARS), output });
  }

  /**
   * It is done. The output of a job, and of the step that ends at 100 of it, is needed.
   * @throws SignalboxError when it is refused
   */
  async complete({ output, message, signal }: Completion = {}): Promise<void> {
    if (this.#needsOutput && !output) {
      const detail = "output is required: this completes the job.";
      throw new SignalboxError(400, "output_required", detail);
    }
    await this.#reports.send({ status: "completed", progress: 100, message, output }, true, signal);
  }

  /** It has failed, at the progress it had reached. @param reason an error, of which the message is told, or the message */
  async fail(reason: unknown, { output, failJob, signal }: Failure = {}): Promise<void> {
    await this.#reports.send({ status: "failed", message: errorText(reason), output, failJob }, true, signal);
  }

  /** @returns once the service has taken all reports so far. @throws SignalboxError when the last one was refused */
  flush({ signal }: CallOptions = {}): Promise<void> {
    return this.#reports.flush(signal);
  }

  /**
   * Starts it, does the work, and reports its completion with the output that the work returned, or its failure with the
   * message of what it threw, which is thrown again. The signal is handed on to the work, and a failure after it has
   * fired says that it was aborted.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: work may return nothing
  async run<Output extends object | undefined | void>(
    work: (reporter: this, signal: AbortSignal) => Output | Promise<Output>,
    { startMessage, message, failJob, signal = new AbortController().signal }: RunOptions = {},
  ): Promise<Output> {
    signal.throwIfAborted();
    const end = (error: unknown) =>
      this.fail(signal.aborted ? `Aborted: ${errorText(signal.reason)}` : error, { failJob }).catch(
        this.context.onError,
      );
    let isDone = false;
    try {
      await this.start(startMessage, { signal });
    } catch (error) {
      // The beginning still goes out, and must not be the last that is heard.
      if (signal.aborted) void end(error);
      throw error;
    }
    try {
      const output = await work(this, signal);
      isDone = true;
      await this.complete({ output: output ?? undefined, message });
      return output;
    } catch (error) {
      // What is done has not failed because the service is away.
      if (!isDone || !isTransient(error)) await end(error);
      throw error;
    }
  }
}

/** For people: no stack, and not too long. */
function errorText(reason: unknown): string {
  const { message, name } = (reason ?? {}) as Partial<Error>;
  return String(message || name || reason).slice(0, MAX_REASON_CHARS);
}
