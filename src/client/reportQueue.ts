/**
 * The queue of reports of one job or step. A report is in one of these states:
 *
 * - queued: waits in `queue` for its turn and for its minimum interval; later reports are merged into it where that
 *   loses no status;
 * - in flight: its request is under way; there is at most one, `inFlight`;
 * - accepted: the service has stored it; its waiters are resolved;
 * - rejected: the service refused it, retries ran out, or the client was closed; its waiters are rejected.
 *
 * A transient error moves a report from in flight back to queued, merged with what was queued meanwhile. If the service
 * refuses the content of a merged report, the part of it that a caller waits for is queued alone.
 */
import { backoffMs, isTransient } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { MAX_TIMER_MS, onAbort } from "./deadline.ts";
import type { SignalboxError } from "./error.ts";
import type { Status } from "./records/jobs.ts";

/** The fields to change on the service; absent fields stay as they are. */
export interface Report {
  readonly status?: Status;
  readonly progress?: number;
  readonly message?: string;
  readonly output?: object;
  readonly failJob?: boolean;
  /** Lines for the log of a step. Those of merged reports are joined. */
  readonly log?: string;
}

/** A report whose absent fields may be given as undefined. */
type ReportInput = { readonly [Field in keyof Report]: Report[Field] | undefined };

/** A caller that waits for a report to be accepted. */
interface Waiter {
  /** The caller's signal was aborted, so that it waits no longer. */
  aborted: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

interface Entry {
  readonly report: Report;
  /** A completion or a failure: later reports are not merged into it. */
  readonly isFinal: boolean;
  readonly waiters: Waiter[];
  /** The part of a merged report that a caller waits for; undefined if it is the whole report, or none of it. */
  readonly awaited?: Report | undefined;
  /** Minimum time between the start of the previous request and this one. */
  readonly waitMs: number;
  /** When it was first sent, or a caller began to wait for it after that. */
  sentAt?: number | undefined;
}

/** Smallest change of progress, in points, that is sent at the short interval. */
const VISIBLE_POINTS = 5;
/** Minimum intervals between the starts of two requests, by what the later one reports. */
const PROGRESS_INTERVAL_MS = 100;
const MESSAGE_INTERVAL_MS = 1_000;
const OTHER_INTERVAL_MS = 5_000;

export interface ReportQueue {
  /** Adds a report that nobody waits for; it is sent after its minimum interval. Never throws. */
  add(report: ReportInput): void;
  /**
   * Sends a report and resolves once the service has accepted it. The signal ends the wait, not the report.
   * @throws SignalboxError when the report is rejected or the client is closed, or the signal's reason
   */
  send(report: ReportInput, isFinal: boolean, signal?: AbortSignal): Promise<void>;
  /**
   * Resolves once the service has accepted all reports so far.
   * @throws SignalboxError when the last report was rejected
   */
  flush(signal?: AbortSignal): Promise<void>;
  /** Rejects all queued reports with the reason. */
  reject(reason: unknown): void;
}

/**
 * Creates a queue that sends one report at a time. While a report is in flight or the service is unavailable, later reports
 * are merged into one that holds the newest value of each field. Final reports are never merged away, not even repeated
 * ones, and are sent after everything before them. Reports after a final one are dropped until one sets `status` again.
 * The queue holds at most one report besides the final ones.
 * @param request sends one report to the service
 * @param startsRunning whether the first report is given the status `running` if it has none
 */
export function createReportQueue(
  request: (report: Report) => Promise<unknown>,
  { closed, retryForMs, onError, pending }: ClientContext,
  startsRunning: boolean,
): ReportQueue {
  const queue: Entry[] = [];
  let inFlight: Entry | undefined;
  /** The last given value of each field, so that unchanged values are not sent again. */
  let latest: Report = {};
  let sentProgress = 0;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let tries = 0;
  /** The end of the backoff, on the clock of `performance.now()`. */
  let notBefore = 0;
  /** Why the last report without a waiter was rejected; cleared by the next accepted report. */
  let rejection: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const send: ReportQueue["send"] = async (report, isFinal, signal) => {
    signal?.throwIfAborted();
    closed.throwIfAborted();
    let removeListener: (() => void) | undefined;
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { aborted: false, resolve, reject };
      removeListener = onAbort(signal, () => {
        waiter.aborted = true;
        reject(signal?.reason);
        schedule();
      });
      append(report, isFinal, [waiter]);
    }).finally(() => removeListener?.());
  };

  const append = (input: ReportInput, isFinal: boolean, waiters: Waiter[]): void => {
    const report: Report = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const changes = isFinal ? report : changesIn(report);
    if (changes) {
      latest = { ...latest, ...changes };
      enqueue({ report: changes, isFinal, waiters, waitMs: intervalOf(changes) });
    } else {
      const previous = queue.at(-1) ?? inFlight;
      if (previous) {
        previous.waiters.push(...waiters);
        if (waiters[0]) previous.sentAt = performance.now(); // its whole time, as for a merged report
      } else for (const { resolve } of waiters) resolve();
    }
    schedule();
  };

  /** Adds a report to the end, merged with the one before it if possible. */
  const enqueue = (entry: Entry): void => {
    const last = queue.at(-1);
    const merged = last && merge(last, entry);
    if (merged) queue.pop();
    queue.push(merged ?? entry);
  };

  /** Returns what to send, or undefined when nothing has changed or the work has already ended. */
  const changesIn = (report: Report): Report | undefined => {
    const fields = Object.keys(report) as (keyof Report)[];
    const { status } = latest;
    const hasEnded = status && status !== "running";
    if (!fields[0] || (hasEnded && !report.status)) return undefined;
    if (startsRunning && !status) return { ...report, status: "running" };
    return fields.some((field) => /output|log/.test(field) || report[field] !== latest[field]) ? report : undefined;
  };

  const intervalOf = ({ status, progress, message, log }: Report): number => {
    if (status) return 0;
    if (progress === undefined) return (message ?? log) === undefined ? OTHER_INTERVAL_MS : MESSAGE_INTERVAL_MS;
    return Math.abs(progress - sentProgress) >= VISIBLE_POINTS ? PROGRESS_INTERVAL_MS : OTHER_INTERVAL_MS;
  };

  const schedule = (): void => {
    clearTimeout(timer);
    const [next] = queue;
    if (inFlight || !next) return;
    pending.add(reports);
    const isAwaited = queue.some(hasWaiter);
    const dueAt = Math.max(notBefore, isAwaited || queue[1] ? 0 : lastSentAt + next.waitMs);
    const remainingMs = dueAt - performance.now();
    if (remainingMs <= 0) return void sendNext(next);
    timer = setTimeout(schedule, Math.min(remainingMs, MAX_TIMER_MS));
    // A report without a waiter must not keep a Node program from exiting.
    if (!isAwaited) (timer as { unref?(): void }).unref?.();
  };

  const sendNext = async (entry: Entry): Promise<void> => {
    queue.shift();
    inFlight = entry;
    lastSentAt = performance.now();
    sentProgress = entry.report.progress ?? sentProgress;
    entry.sentAt ??= lastSentAt;
    try {
      await request(entry.report);
      tries = 0;
      rejection = undefined;
      for (const { resolve } of entry.waiters) resolve();
    } catch (error) {
      retryOrReject(entry, error);
    }
    inFlight = undefined;
    if (!queue[0]) pending.delete(reports);
    schedule();
  };

  const retryOrReject = (entry: Entry, error: unknown): void => {
    const retryAt = performance.now() + backoffMs(tries++, error);
    const isTooLate = retryAt - (entry.sentAt as number) > retryForMs;
    if (!closed.aborted && !isTooLate && isTransient(error)) {
      notBefore = retryAt;
      onError(error);
      for (const one of [entry, ...queue.splice(0)]) enqueue(one);
      return;
    }
    tries = 0;
    const { awaited: report } = entry;
    if (report && isContentRefused(error)) {
      onError(error);
      queue.unshift({ ...entry, report, awaited: undefined });
    } else {
      rejectEntry(entry, error);
    }
  };

  const rejectEntry = (entry: Entry, error: unknown): void => {
    latest = {};
    if (!hasWaiter(entry)) {
      rejection = error;
      onError(error);
    }
    for (const waiter of entry.waiters) waiter.reject(error);
  };

  const reports: ReportQueue = {
    add(report) {
      if (!closed.aborted) append(report, false, []);
    },
    send,
    async flush(signal) {
      await send({}, false, signal);
      const error = rejection;
      rejection = undefined;
      if (error) throw error;
    },
    reject(reason) {
      clearTimeout(timer);
      for (const entry of queue.splice(0)) rejectEntry(entry, reason);
      pending.delete(reports);
    },
  };
  return reports;
}

const hasWaiter = ({ waiters }: Entry): boolean => waiters.some(({ aborted }) => !aborted);

/** Whether the report itself is at fault, and not its job or the caller's access: it is invalid or cannot be JSON. */
const isContentRefused = (error: unknown): boolean =>
  error instanceof TypeError || /^(400|413)$/.test((error as SignalboxError).status as unknown as string);

const awaitedPart = ({ report, awaited, waiters }: Entry): Report | undefined => awaited ?? (waiters[0] && report);

/** Maximum characters of the lines of one report, which take at most 256 KiB; the newest are kept. */
export const MAX_LOG_CHARS = 65_536;

const join = (earlier: Report = {}, later: Report = {}): Report => ({
  ...earlier,
  ...later,
  ...(earlier.log && later.log && { log: `${earlier.log}\n${later.log}`.slice(-MAX_LOG_CHARS) }),
});

/** Merges two reports into one that leaves the same state; undefined when that would skip a status. */
function merge(earlier: Entry, later: Entry): Entry | undefined {
  if (earlier.isFinal || (later.isFinal && earlier.report.status)) return undefined;
  const [first, second] = [earlier, later].map(awaitedPart);
  return {
    // A report that a caller waits for has its whole time, however long the report before it has been retried.
    sentAt: later.waiters[0] ? later.sentAt : earlier.sentAt,
    report: join(earlier.report, later.report),
    isFinal: later.isFinal,
    waiters: [...earlier.waiters, ...later.waiters],
    awaited: (first || second) && join(first, second),
    waitMs: Math.min(earlier.waitMs, later.waitMs),
  };
}
