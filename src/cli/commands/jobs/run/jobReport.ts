import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Client, StepReporter } from "../../../../client/client.ts";
import { withTimeSuffix } from "../../../../shared/text/text.ts";
import { cleanLine } from "../../../terminal/cleanText.ts";
import { duration } from "../../../terminal/words.ts";
import { metadataOf } from "../reporting.ts";

export interface JobOptions {
  /** The id of the job; a random one by default. */
  readonly job?: string;
  /** The name of the job; by default that of the program. Its arguments may contain secrets. */
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  /** The session that the end of the job wakes. */
  readonly returnTo?: string;
  /** The beginning of a random id. */
  readonly idPrefix?: string;
  /** Seconds without a report after which the job is stale. */
  readonly staleAfter?: number;
}

interface Result {
  readonly exitCode: number;
  readonly durationMs: number;
  /** The last lines of output. */
  readonly tail: string;
}

/** The job of a program. */
export interface JobReport {
  report(update: { message?: string; progress?: number }): void;
  /** Adds lines to the log of the step; those before the job exists are kept until then, the last 64 Ki characters of them. */
  log(text: string): void;
  /** The trace of the job, for its program; null without one, and if the job cannot be created. Never rejects. */
  readonly traceparent: Promise<string | null>;
  /** Reports the end. @throws the error of the service, or of a closed client */
  end(client: Client, result: Result, message: string | undefined): Promise<void>;
}

/** Lines of a program that are kept while its job cannot be created. */
const MAX_UNSENT_CHARS = 65_536;

/** The service's limit. */
const MAX_NAME_CHARS = 1_024;

/** A running job is reported this often within its stale time, so that it is not stale while its program prints nothing. */
const REPORTS_PER_STALE_TIME = 3;

/** Used for a job that cannot be stale now, such as one that waits for a person. */
const DEFAULT_STALE_MS = 900_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Creates the job in the background; what is reported until then is sent as one report once it exists.
 * @param cancelled aborted when cancellation of the job is requested
 */
export function reportJob(client: Client, options: JobOptions, program: string, cancelled: AbortController): JobReport {
  // The name of a program can be blank, and that of a job cannot.
  const title = cleanLine(options.name ?? (basename(program).trim() || "program")).slice(0, MAX_NAME_CHARS);
  const startedAt = Date.now();
  let jobId: string | undefined;
  let latest: { message?: string; progress?: number } = {};
  let step: StepReporter | undefined;
  let unsent = "";
  let wasKeptAlive = false;
  let hasEnded = false;
  let stop = () => {};

  /** Creates the job and returns the reporter of its only step. A job of the given id that has ended stays as it is. */
  const open = async (through: Client) => {
    jobId ??=
      options.job === undefined ? (options.idPrefix ?? "") + randomUUID() : await openJobId(through, options.job);
    const job = through.job(jobId);
    const { metadata, staleAfter: staleAfterSeconds, returnTo } = options;
    const { staleAt, lastReportAt, createdAt, traceparent } = await job.create({
      name: title,
      ...(metadata && { metadata: metadataOf(metadata) }),
      ...(staleAfterSeconds !== undefined && { staleAfterSeconds }),
      ...(returnTo !== undefined && { returnTo }),
    });
    const staleMs = Date.parse(staleAt ?? "") - Date.parse(lastReportAt ?? createdAt);
    return { reporter: job.step("run", { name: title, from: 0, to: 100 }), staleMs, traceparent };
  };
  /** Reports that the program goes on, unless something else was reported since the last time. */
  const keepAlive = (staleMs: number) => {
    let before = latest;
    const report = () => {
      if (latest === before) {
        wasKeptAlive = true;
        step?.update({ message: `${latest.message ?? ""} (running for ${duration(Date.now() - startedAt)})`.trim() });
      }
      before = latest;
    };
    const timer = setInterval(report, Math.min((staleMs || DEFAULT_STALE_MS) / REPORTS_PER_STALE_TIME, MAX_TIMER_MS));
    return () => clearInterval(timer);
  };
  const created = open(client);
  const opened = created.then(({ reporter, staleMs }) => {
    step = reporter;
    step.update({ progress: 0, ...latest });
    if (unsent) step.log(unsent);
    if (hasEnded) return step;
    const stopKeepingAlive = keepAlive(staleMs);
    const stopListening = step.onCancel((error) => cancelled.abort(error));
    stop = () => {
      stopKeepingAlive();
      stopListening();
    };
    return step;
  });
  opened.catch(() => {}); // `end` throws the error.
  return {
    traceparent: created.then(
      (job) => job.traceparent ?? null,
      () => null,
    ),
    report(update) {
      const next = { ...latest, ...update };
      if (next.message === latest.message && next.progress === latest.progress) return;
      latest = next;
      step?.update(latest);
    },
    log(text) {
      if (step) step.log(text);
      else unsent = (unsent + text).slice(-MAX_UNSENT_CHARS);
    },
    async end(through, result, message) {
      hasEnded = true;
      stop();
      const reporter = through === client ? await opened : (await open(through)).reporter;
      const { aborted, reason } = cancelled.signal;
      if (reporter !== step && unsent) reporter.log(unsent);
      if (latest.progress !== undefined) reporter.update({ progress: latest.progress });
      if (result.exitCode === 0) {
        return reporter.complete({ output: result, message: message ?? (wasKeptAlive ? "Exit code 0" : undefined) });
      }
      const why = aborted ? reason : (message ?? `Exit code ${result.exitCode}`);
      return reporter.fail(why, { output: result, failJob: true });
    },
  };
}

/** Returns the id, with the present time as its suffix if its job has ended. */
async function openJobId(client: Client, jobId: string): Promise<string> {
  const { status } = await client.job(jobId).create();
  return status === "running" ? jobId : withTimeSuffix(jobId, new Date());
}
