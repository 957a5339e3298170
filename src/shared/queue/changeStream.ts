import type { RedisConnection } from "./redis.ts";

/**
 * That a record is another than before; what it is now, its reader reads. `moved`: the job may fit other filters than
 * before. `many`: more of them than are told one by one.
 */
export type Change =
  | { readonly kind: "job"; readonly jobId: string; readonly moved: boolean }
  | { readonly kind: "step"; readonly jobId: string; readonly stepKey: string }
  | { readonly kind: "run" | "delivery"; readonly id: string }
  | { readonly kind: "many" };

/** Who is to hear of changes. */
export interface ChangeNotifier {
  /** Never throws and never waits: to tell of a change is no part of making it. */
  notify(change: Change): void;
}

export const NO_NOTIFIER: ChangeNotifier = { notify: () => {} };

/** The stream in Redis that all processes tell their changes in. */
export const changesKey = (prefix: string): string => `${prefix}:changes`;

const TOGETHER_MS = 50;
const AGAIN_AFTER_MS = 1_000;
const MOST_PER_ENTRY = 200;
/** Of an unheard-of burst the rest is told as `many`. */
const MOST_WAITING = 5_000;
/** Kept for those who come back after a short while. */
const KEPT_ENTRIES = 2_000;

/**
 * Tells of changes in a stream in Redis: the first at once, those of a short while after it together. What cannot be told,
 * because Redis is away, is lost; once it is back readers are told so, as `many`: they themselves may have had Redis all the
 * time.
 */
export class RedisChangeStream implements ChangeNotifier {
  readonly #redis: RedisConnection;
  readonly #key: string;
  #waiting = new Map<string, Change>();
  #timer: NodeJS.Timeout | undefined;
  #toldAt = 0;

  /** @param redis a producer's connection, which stays its owner's */
  constructor(redis: RedisConnection, prefix: string) {
    this.#redis = redis;
    this.#key = changesKey(prefix);
  }

  notify(change: Change): void {
    const told = this.#waiting.size < MOST_WAITING ? change : MANY;
    const name = nameOf(told);
    const before = this.#waiting.get(name);
    if (!(before?.kind === "job" && before.moved)) this.#waiting.set(name, told);
    this.#timer ??= setTimeout(() => void this.flush(), Math.max(0, this.#toldAt + TOGETHER_MS - performance.now()));
  }

  /** Tells at once what waits to be told; resolves when Redis has it, or cannot be told. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#toldAt = performance.now();
    const changes = [...this.#waiting.values()];
    this.#waiting = new Map();
    const entries: Change[][] = [];
    for (let i = 0; i < changes.length; i += MOST_PER_ENTRY) entries.push(changes.slice(i, i + MOST_PER_ENTRY));
    const told = entries.map((entry) =>
      this.#redis.xadd(this.#key, "MAXLEN", "~", KEPT_ENTRIES, "*", "c", JSON.stringify(entry)),
    );
    const ends = await Promise.allSettled(told);
    if (ends.every(({ status }) => status === "fulfilled")) return;
    this.#waiting.set(nameOf(MANY), MANY);
    this.#timer ??= setTimeout(() => void this.flush(), AGAIN_AFTER_MS).unref();
  }
}

const MANY: Change = { kind: "many" };

const nameOf = (change: Change): string =>
  change.kind === "job"
    ? `job ${change.jobId}`
    : change.kind === "step"
      ? `step ${change.jobId.length} ${change.jobId} ${change.stepKey}`
      : change.kind === "many"
        ? "many"
        : `${change.kind} ${change.id}`;

/** What one entry of the stream tells; of what another version, or somebody else, wrote in words of its own: `many`. */
export function parseChanges(fields: readonly string[]): Change[] {
  const text = fields[fields.indexOf("c") + 1];
  try {
    const changes: unknown = JSON.parse(text ?? "");
    return Array.isArray(changes) ? changes.map((one) => (isChange(one) ? one : MANY)) : [MANY];
  } catch {
    return [MANY];
  }
}

function isChange(value: unknown): value is Change {
  const { kind, jobId, stepKey, id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  switch (kind) {
    case "job":
      return typeof jobId === "string";
    case "step":
      return typeof jobId === "string" && typeof stepKey === "string";
    case "run":
    case "delivery":
      return typeof id === "string";
    default:
      return kind === "many";
  }
}
