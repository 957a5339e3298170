import type { RedisConnection } from "./redis.ts";

/**
 * The notice that a record has changed; its reader reads the record itself. `moved`: the job may match other filters than
 * before. `many`: too many records have changed to name each.
 */
export type Change =
  | { readonly kind: "job"; readonly jobId: string; readonly moved: boolean }
  | { readonly kind: "step"; readonly jobId: string; readonly stepKey: string }
  /** Lines were added to the log of a step. */
  | {
      readonly kind: "log";
      readonly jobId: string;
      readonly stepKey: string;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "run" | "delivery"; readonly id: string }
  /** The stream of the events of a run has grown (`runEvents.ts`). */
  | { readonly kind: "turn"; readonly id: string }
  | { readonly kind: "many" };

/** Receives notices of changed records. */
export interface ChangeNotifier {
  /** Never throws and never waits, so that it cannot fail or delay the change itself. */
  notify(change: Change): void;
}

export const NO_NOTIFIER: ChangeNotifier = { notify: () => {} };

/** Returns the key of the Redis stream to which all processes add their changes. */
export const changesKey = (prefix: string): string => `${prefix}:changes`;

/** Minimum interval between two entries of one process. */
const INTERVAL_MS = 50;
const RETRY_MS = 1_000;
/** Maximum changes in one entry of the stream. */
const MAX_PER_ENTRY = 200;
/** Maximum changes that wait for the next entry. The rest of a larger burst becomes `many`. */
const MAX_WAITING = 5_000;
/** Approximate length of the stream, for readers that come back after a short time. */
const MAX_STREAM_LENGTH = 2_000;

/**
 * Adds changes to a stream in Redis: the first at once, those of the following `INTERVAL_MS` as one entry. Changes that
 * cannot be added because Redis is down are dropped. When Redis is back they are replaced by `many`, because the readers may
 * have been connected all the time.
 */
export class RedisChangeStream implements ChangeNotifier {
  readonly #redis: RedisConnection;
  readonly #key: string;
  #waiting = new Map<string, Change>();
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = 0;

  /** @param redis a producer's connection, which the caller closes */
  constructor(redis: RedisConnection, prefix: string) {
    this.#redis = redis;
    this.#key = changesKey(prefix);
  }

  notify(change: Change): void {
    const queued = this.#waiting.size < MAX_WAITING ? change : MANY;
    const key = keyOf(queued);
    const before = this.#waiting.get(key);
    if (!(before?.kind === "job" && before.moved)) this.#waiting.set(key, before ? merged(before, queued) : queued);
    this.#timer ??= setTimeout(() => void this.flush(), Math.max(0, this.#flushedAt + INTERVAL_MS - performance.now()));
  }

  /** Adds the waiting changes to the stream at once. Resolves when Redis has stored or refused them. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushedAt = performance.now();
    const changes = [...this.#waiting.values()];
    this.#waiting = new Map();
    const entries: Change[][] = [];
    for (let i = 0; i < changes.length; i += MAX_PER_ENTRY) entries.push(changes.slice(i, i + MAX_PER_ENTRY));
    const writes = entries.map((entry) =>
      this.#redis.xadd(this.#key, "MAXLEN", "~", MAX_STREAM_LENGTH, "*", "c", JSON.stringify(entry)),
    );
    const results = await Promise.allSettled(writes);
    if (results.every(({ status }) => status === "fulfilled")) return;
    this.#waiting.set(keyOf(MANY), MANY);
    this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
  }
}

const MANY: Change = { kind: "many" };

/** Returns one change for two of the same record. */
const merged = (before: Change, change: Change): Change =>
  before.kind === "log" && change.kind === "log"
    ? { ...change, from: Math.min(before.from, change.from), to: Math.max(before.to, change.to) }
    : change;

const keyOf = (change: Change): string =>
  change.kind === "job"
    ? `job ${change.jobId}`
    : change.kind === "step" || change.kind === "log"
      ? `${change.kind} ${change.jobId.length} ${change.jobId} ${change.stepKey}`
      : change.kind === "many"
        ? "many"
        : `${change.kind} ${change.id}`;

/** Returns the changes in one entry of the stream. Unknown formats, such as those of another version, become `many`. */
export function parseChanges(fields: readonly string[]): Change[] {
  const text = fields[fields.indexOf("c") + 1];
  try {
    const changes: unknown = JSON.parse(text ?? "");
    return Array.isArray(changes) ? changes.map((change) => (isChange(change) ? change : MANY)) : [MANY];
  } catch {
    return [MANY];
  }
}

function isChange(value: unknown): value is Change {
  const { kind, jobId, stepKey, id, from, to } = (value ?? {}) as Readonly<Record<string, unknown>>;
  switch (kind) {
    case "job":
      return typeof jobId === "string";
    case "step":
      return typeof jobId === "string" && typeof stepKey === "string";
    case "log":
      return typeof jobId === "string" && typeof stepKey === "string" && Number.isInteger(from) && Number.isInteger(to);
    case "run":
    case "turn":
    case "delivery":
      return typeof id === "string";
    default:
      return kind === "many";
  }
}
