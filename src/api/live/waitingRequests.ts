import { setTimeout as delay, setImmediate } from "node:timers/promises";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { ChangeListener } from "../../shared/queue/changeReader.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import type { RequestedWait, WaitingCaller } from "../wait.ts";

/** The record whose changes wake a request. Steps and gates belong to their job. */
export type AwaitedRecord =
  | { readonly kind: "job"; readonly jobId: string }
  | { readonly kind: "log"; readonly jobId: string; readonly stepKey: string }
  | { readonly kind: "run"; readonly runId: string };

/** The record that a request waits for. */
export interface Awaited<T> {
  readonly record: AwaitedRecord;
  /** Distinguishes the reads of one record that return different values; those with the same name are shared. */
  readonly readName: string;
  /** Reads the present state. An error ends the wait and is thrown. */
  read(): Promise<T>;
  /** Returns whether the wait is over. */
  isOver(value: T): boolean;
  /** Returns whether a change of the record may end the wait, so that the record is read again (default: every change). */
  mayEnd?(change: Change): boolean;
  /** Returns the next time at which the value changes without a change of the record, or null. */
  nextChangeAt?(value: T): Date | null;
}

interface Waited<T> {
  /** The state at the end of the wait. */
  readonly value: T;
  /** `Preference-Applied` if the request has waited, or would have. */
  readonly headers: Readonly<Record<string, string>>;
}

interface WaitingRequestsDeps {
  readonly clock: Clock;
  /** Maximum requests that wait at the same time (`server.maxWaiting`). */
  readonly maxWaiting: number;
  /** Interval of reads while Redis is unavailable. */
  readonly pollMs: number;
  /** Returns whether the right of a caller has not ended during its wait. */
  readonly stillValid: (caller: WaitingCaller) => Promise<boolean>;
}

/**
 * The requests that wait for a change of a record. A waiting request holds a timer and an entry in a map, and neither a
 * connection to the database nor one to Redis. All requests that wait for the same share each read.
 *
 * A request is registered before its first read, so that it misses no change. It reads again each time it is woken: by a
 * change of its record, by a time at which the value changes by itself, or, while Redis is unavailable, every `pollMs`. It
 * ends when the read value ends the wait, when the time is up, when the process stops, or when its client has left.
 */
export class WaitingRequests implements ChangeListener {
  /** Maximum requests that wait at the same time; see `shareOf` for each owner. Further ones are answered at once. */
  maxWaiting: number;
  readonly #clock: Clock;
  readonly #pollMs: number;
  readonly #stillValid: WaitingRequestsDeps["stillValid"];
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #reads = new Map<string, Promise<unknown>>();
  /** The number of waiting requests of each owner. */
  readonly #byOwner = new Map<string, number>();
  #size = 0;
  #polling: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor({ clock, maxWaiting, pollMs, stillValid }: WaitingRequestsDeps) {
    this.#clock = clock;
    this.maxWaiting = maxWaiting;
    this.#pollMs = pollMs;
    this.#stillValid = stillValid;
    this.onDisconnected(); // until Redis is connected
  }

  /** The number of waiting requests. */
  get size(): number {
    return this.#size;
  }

  /**
   * Reads a record until the wait of a request is over.
   * @param wait the wait that the request asks for; null to read once
   * @throws what `read` throws; AppError unauthorized if the right of the caller has ended meanwhile
   */
  async until<T>(wait: RequestedWait | null, awaited: Awaited<T>): Promise<Waited<T>> {
    if (!wait || this.#isEnded || !this.#hasRoom(wait)) return { value: await awaited.read(), headers: {} };
    const { record, mayEnd = () => true } = awaited;
    const key = subjectOf(record);
    const waiter = new Waiter(ownerOf(wait), (change) => concerns(record, change) && mayEnd(change));
    const onGone = () => waiter.leave();
    const timer = setTimeout(() => waiter.end(), this.#delayOf(wait));
    wait.gone.addEventListener("abort", onGone);
    if (wait.gone.aborted) onGone(); // the handler may have worked before it waits
    this.#add(key, waiter);
    try {
      const value = await this.#readUntil(waiter, awaited);
      // after the read: whoever may read now might have read then, because no job comes back under its internal id
      if (wait.caller && !(await this.#stillValid(wait.caller))) throw endedWhileWaiting();
      return { value, headers: applied(wait) };
    } finally {
      clearTimeout(timer);
      wait.gone.removeEventListener("abort", onGone);
      this.#remove(key, waiter);
    }
  }

  /**
   * Waits for two seconds, without a place among the waiting requests: a client that repeats a request which found no place must
   * not do so in a loop.
   */
  async pause(gone: AbortSignal): Promise<void> {
    await delay(2 * this.#pollMs, undefined, { signal: gone, ref: false }).catch(() => {});
  }

  async #readUntil<T>(waiter: Waiter, { record, readName, read, isOver, nextChangeAt }: Awaited<T>): Promise<T> {
    for (;;) {
      const woken = waiter.next(); // before the read, so that a change during the read wakes the request again
      const isLast = waiter.isOver;
      const value = await this.share(record, readName, read);
      if (isLast || waiter.isGone || isOver(value)) return value;
      const delayMs = this.#delayUntil(nextChangeAt?.(value));
      const timer = delayMs === undefined ? undefined : setTimeout(() => waiter.wake(), delayMs);
      await woken;
      clearTimeout(timer);
      if (waiter.isGone) return value;
    }
  }

  /** Returns the delay until a value changes. A change that is due and cannot be seen yet is looked for every `pollMs`. */
  #delayUntil(changesAt: Date | null | undefined): number | undefined {
    if (!changesAt) return undefined;
    const leftMs = changesAt.getTime() - this.#clock.now().getTime();
    return leftMs > 0 ? Math.min(leftMs, MAX_DELAY_MS) : this.#pollMs;
  }

  /** Reads a record once for all callers of this turn of the event loop that give the same `readName`. */
  share<T>(record: AwaitedRecord, readName: string, read: () => Promise<T>): Promise<T> {
    const name = `${keyOf(record)}\n${readName}`;
    const shared = this.#reads.get(name) as Promise<T> | undefined;
    if (shared) return shared;
    const reading = setImmediate().then(() => {
      this.#reads.delete(name); // a later caller may have been woken by a change that this read misses
      return read();
    });
    this.#reads.set(name, reading);
    return reading;
  }

  #hasRoom(wait: RequestedWait): boolean {
    const owner = ownerOf(wait);
    const share = Math.max(1, Math.floor(this.maxWaiting * shareOf(owner)));
    return this.#size < this.maxWaiting && (this.#byOwner.get(owner) ?? 0) < share;
  }

  /** Returns how long a request waits, in milliseconds: no longer than its token is valid. */
  #delayOf({ seconds, caller }: RequestedWait): number {
    const untilMs = caller?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(seconds * 1_000, untilMs - this.#clock.now().getTime()));
  }

  #add(key: string, waiter: Waiter): void {
    this.#size++;
    this.#byOwner.set(waiter.owner, (this.#byOwner.get(waiter.owner) ?? 0) + 1);
    this.#waiters.set(key, (this.#waiters.get(key) ?? new Set()).add(waiter));
  }

  #remove(key: string, waiter: Waiter): void {
    this.#size--;
    const left = (this.#byOwner.get(waiter.owner) ?? 1) - 1;
    if (left > 0) this.#byOwner.set(waiter.owner, left);
    else this.#byOwner.delete(waiter.owner);
    const waiters = this.#waiters.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(key);
  }

  onConnected(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
    this.#wakeAll();
  }

  onDisconnected(): void {
    this.#polling ??= setInterval(() => this.#wakeAll(), this.#pollMs).unref();
  }

  onChanges(unpack: () => readonly Change[]): void {
    if (this.#size === 0) return;
    for (const change of unpack()) {
      if (change.kind === "many") this.#wakeAll();
      else for (const waiter of this.#waiters.get(subjectOfChange(change)) ?? []) waiter.onChange(change);
    }
  }

  #wakeAll(): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.wake();
  }

  /** Answers all waiting requests with the present state, so that their clients are authenticated again when they repeat them. */
  restart(): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.end();
  }

  /** Answers all waiting requests with the present state, and lets no more wait. */
  end(): void {
    this.#isEnded = true;
    this.restart();
  }

  close(): void {
    this.end();
    clearInterval(this.#polling);
  }
}

/** Maximum delay of a timer, which is longer than any wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

const endedWhileWaiting = () =>
  new AppError("unauthorized", {
    detail: "The token or the log-in ended while the request waited.",
    headers: { "WWW-Authenticate": 'Bearer realm="signalbox"' },
  });

const applied = ({ seconds }: RequestedWait) => ({ "Preference-Applied": `wait=${seconds}` });

/** Returns whose share a wait counts for: that of a token, or of all senders of hooks together. */
const ownerOf = ({ caller }: RequestedWait): string => caller?.actor.replace(/^cookie:/, "") ?? "hooks";

/** Actors that may hold all waits: with `server.apiToken` alone, every client has it. */
const UNLIMITED: readonly string[] = ["api-token", "read-only-token", "anonymous"];

/** Returns the part of all waits that one owner may hold, so that nobody takes the waits of all others. */
function shareOf(owner: string): number {
  if (UNLIMITED.includes(owner)) return 1;
  return owner.startsWith("job-token:") ? 0.1 : 0.5;
}

/** One waiting request. */
class Waiter {
  readonly owner: string;
  /** Whether it must be answered with the next read. */
  isOver = false;
  /** Whether its client has left, so that nobody needs an answer. */
  isGone = false;
  readonly #mayEnd: (change: Change) => boolean;
  #wake = () => {};

  constructor(owner: string, mayEnd: (change: Change) => boolean) {
    this.owner = owner;
    this.#mayEnd = mayEnd;
  }

  /** Returns a promise that resolves at the next call of `wake`. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  wake(): void {
    this.#wake();
  }

  onChange(change: Change): void {
    if (this.#mayEnd(change)) this.#wake();
  }

  end(): void {
    this.isOver = true;
    this.#wake();
  }

  leave(): void {
    this.isGone = true;
    this.#wake();
  }
}

/** Returns the name of a record, by which reads of it are shared. */
const keyOf = (record: AwaitedRecord): string =>
  record.kind === "log" ? `log ${record.jobId.length} ${record.jobId} ${record.stepKey}` : subjectOf(record);

/** Returns the name of the job or run that a record belongs to, by which its waiting requests are found. */
const subjectOf = (record: AwaitedRecord): string =>
  record.kind === "run" ? `run ${record.runId}` : `job ${record.jobId}`;

const subjectOfChange = (change: Exclude<Change, { kind: "many" }>): string =>
  "jobId" in change ? `job ${change.jobId}` : `${change.kind} ${change.id}`;

/** Returns whether a change can concern a record. A log changes by its lines, and ends with the deletion of its job. */
function concerns(record: AwaitedRecord, change: Change): boolean {
  if (record.kind !== "log") return change.kind !== "log";
  return change.kind === "log" ? change.stepKey === record.stepKey : change.kind === "job" && change.moved;
}
