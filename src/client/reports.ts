import { backoffMs, isTransient } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { abortedOf, MAX_TIMER_MS, onAbort } from "./deadline.ts";
import type { Status } from "./records.ts";

/** A state to be brought to the service; what is left out stays as it is there. */
export interface Report {
  readonly status?: Status;
  readonly progress?: number;
  readonly message?: string;
  readonly output?: object;
  readonly failJob?: boolean;
}

/** A report, in which what is not said may stand as undefined. */
type Said = { readonly [Field in keyof Report]: Report[Field] | undefined };

interface Waiter {
  /** It has stopped waiting. */
  isGone: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

interface Entry {
  readonly report: Report;
  /** A completion or a failure: nothing that comes later is put into it. */
  readonly isFinal: boolean;
  readonly waiters: Waiter[];
  /** How long after the request before it may be sent. */
  readonly paceMs: number;
  /** When it was first sent. */
  triedAt?: number | undefined;
}

/** From so many points on progress is visible. */
const VISIBLE_POINTS = 5;
/** How long after a request began the next may: for visible progress, for a message of its own, for anything else. */
const PROGRESS_MS = 100;
const MESSAGE_MS = 1_000;
const OTHER_MS = 5_000;

/** The reports of one job or step, on their way one after the other. */
export interface Reports {
  /** Takes a report that nobody waits for. Never throws; sends it when it is worth a request. */
  note(report: Said): void;
  /** @returns once the service has taken the report. @throws SignalboxError when it is refused, or the client closed */
  settle(report: Said, isFinal: boolean, signal?: AbortSignal): Promise<void>;
  /** @returns once the service has taken all reports so far. @throws SignalboxError when the last was refused */
  flush(signal?: AbortSignal): Promise<void>;
  /** Gives up whatever has not been taken. */
  end(reason: unknown): void;
}

/**
 * While a report is under way, or the service is away, those that follow become one: the newest of each field. A final one
 * is never lost in this: it is sent after everything before it, and a repeat of it is sent too. What follows it is left out
 * until one says that it runs again. Holds at most one report besides the final ones.
 * @param reopens whether the first report says that it runs
 */
export function openReports(
  send: (report: Report) => Promise<unknown>,
  { closed, retryForMs, onError, pending }: ClientContext,
  reopens: boolean,
): Reports {
  const queue: Entry[] = [];
  let underWay: Entry | undefined;
  /** All fields as last given, so that nothing is said twice. */
  let latest: Report = {};
  let sentProgress = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let tries = 0;
  /** Until then the service is left alone. */
  let notBefore = 0;
  /** Why the last report that nobody waited for was refused; unset once a later one was taken. */
  let refusal: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** The signal ends the waiting, not the report. */
  const wait = async (report: Said, isFinal: boolean, signal: AbortSignal | undefined): Promise<void> => {
    const aborted = abortedOf([signal, closed]);
    if (aborted) throw aborted.reason;
    let letGo = () => {};
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { isGone: false, resolve, reject };
      letGo = onAbort(signal, () => {
        waiter.isGone = true;
        reject(signal?.reason);
        schedule();
      });
      add(report, isFinal, [waiter]);
    }).finally(() => letGo());
  };

  const add = (said: Said, isFinal: boolean, waiters: Waiter[]): void => {
    const report: Report = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    const news = isFinal ? report : newsOf(report);
    const last = queue.at(-1);
    if (news) {
      latest = { ...latest, ...news };
      const entry = { report: news, isFinal, waiters, paceMs: paceOf(news) };
      const joined = last && join(last, entry);
      if (joined) queue.pop();
      queue.push(joined ?? entry);
    } else {
      const previous = last ?? underWay;
      if (previous) previous.waiters.push(...waiters);
      else for (const { resolve } of waiters) resolve();
    }
    schedule();
  };

  /** Undefined when it says nothing new, or comes from work that went on after the end. */
  const newsOf = (report: Report): Report | undefined => {
    const fields = Object.keys(report) as (keyof Report)[];
    const { status } = latest;
    const hasEnded = status && status !== "running";
    if (fields.length === 0 || (hasEnded && !report.status)) return undefined;
    if (reopens && !status) return { ...report, status: "running" };
    return fields.some((field) => field === "output" || report[field] !== latest[field]) ? report : undefined;
  };

  const paceOf = ({ status, progress, message }: Report): number => {
    if (status) return 0;
    if (progress === undefined) return message === undefined ? OTHER_MS : MESSAGE_MS;
    return Math.abs(progress - sentProgress) >= VISIBLE_POINTS ? PROGRESS_MS : OTHER_MS;
  };

  const schedule = (): void => {
    clearTimeout(timer);
    const [next] = queue;
    if (underWay || !next) return;
    pending.add(reports);
    const isAwaited = queue.some(hasWaiter);
    const dueAt = Math.max(notBefore, isAwaited || queue[1] ? 0 : sentAt + next.paceMs);
    const waitMs = dueAt - performance.now();
    if (waitMs <= 0) return void sendNext(next);
    timer = setTimeout(schedule, Math.min(waitMs, MAX_TIMER_MS));
    // In Node a program may end while nothing is left but a report that nobody waits for.
    if (!isAwaited) (timer as { unref?(): void }).unref?.();
  };

  const sendNext = async (entry: Entry): Promise<void> => {
    queue.shift();
    underWay = entry;
    sentAt = performance.now();
    sentProgress = entry.report.progress ?? sentProgress;
    entry.triedAt ??= sentAt;
    try {
      await send(entry.report);
      tries = 0;
      refusal = undefined;
      for (const { resolve } of entry.waiters) resolve();
    } catch (error) {
      failed(entry, error);
    }
    underWay = undefined;
    if (queue.length === 0) pending.delete(reports);
    schedule();
  };

  const failed = (entry: Entry, error: unknown): void => {
    const againAt = performance.now() + backoffMs(tries++, error);
    const isLate = againAt - (entry.triedAt as number) > retryForMs;
    if (!closed.aborted && !isLate && isTransient(error)) {
      notBefore = againAt;
      onError(error);
      // What has been said since goes along with it.
      const joined = queue[0] && join(entry, queue[0]);
      if (joined) queue.shift();
      queue.unshift(joined ?? entry);
      return;
    }
    tries = 0;
    refuse(entry, error);
  };

  const refuse = (entry: Entry, error: unknown): void => {
    latest = {};
    if (!hasWaiter(entry)) {
      refusal = error;
      onError(error);
    }
    for (const { reject } of entry.waiters) reject(error);
  };

  const reports: Reports = {
    note(report) {
      if (!closed.aborted) add(report, false, []);
    },
    settle: wait,
    async flush(signal) {
      await wait({}, false, signal);
      const refused = refusal;
      refusal = undefined;
      if (refused) throw refused;
    },
    end(reason) {
      clearTimeout(timer);
      for (const entry of queue.splice(0)) refuse(entry, reason);
      pending.delete(reports);
    },
  };
  return reports;
}

const hasWaiter = ({ waiters }: Entry): boolean => waiters.some(({ isGone }) => !isGone);

/** Two reports as one that leaves the same state; undefined when each has to be sent: a status must not be skipped. */
function join(earlier: Entry, later: Entry): Entry | undefined {
  if (earlier.isFinal || (later.isFinal && earlier.report.status)) return undefined;
  return {
    ...earlier, // when it was first sent
    report: { ...earlier.report, ...later.report },
    isFinal: later.isFinal,
    waiters: [...earlier.waiters, ...later.waiters],
    paceMs: Math.min(earlier.paceMs, later.paceMs),
  };
}
