import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Change, changesKey, parseChanges } from "../../shared/queue/changeStream.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import { withTimeout } from "../../shared/timeouts.ts";

/** What a reader hands on. All three come in the order in which things happened. */
export interface ChangeListener {
  /** Changes follow from here on; `gap`: some may have been missed since the last one. */
  onLive(position: string, gap: boolean): void;
  /** Nothing more is heard until `onLive` is called. */
  onLost(): void;
  /**
   * @param unpack gives the changes: they cost much beside hearing of them
   * @param position of the newest of them
   */
  onChanges(unpack: () => readonly Change[], position: string): void;
}

const BLOCK_MS = 5_000;
/** An answer that is later is none: Redis hangs. */
const ANSWER_WITHIN_MS = BLOCK_MS + 3_000;
const LOOK_MS = 100;
const ENTRIES = 500;
const BEGINNING = "0-0";

type Entry = [id: string, fields: string[]];

/**
 * Follows what all processes tell of their changes, from now on, until it is closed.
 * @param redis a connection of its own, that fails at once while Redis is away; its owner closes it
 */
export function readChanges(
  redis: RedisConnection,
  prefix: string,
  listener: ChangeListener,
): { close(): Promise<void> } {
  const key = changesKey(prefix);
  const closed = new AbortController();
  let isFirst = true;

  async function follow(): Promise<void> {
    const newest = await withTimeout(redis.xrevrange(key, "+", "-", "COUNT", 1), ANSWER_WITHIN_MS);
    let position = (newest as Entry[])[0]?.[0] ?? BEGINNING;
    listener.onLive(position, !isFirst);
    isFirst = false;
    while (!closed.signal.aborted) {
      const found = await withTimeout(
        redis.xread("COUNT", ENTRIES, "BLOCK", BLOCK_MS, "STREAMS", key, position),
        ANSWER_WITHIN_MS,
      );
      const entries = (found?.[0]?.[1] ?? []) as Entry[];
      const last = entries.at(-1);
      if (!last) continue;
      position = last[0];
      listener.onChanges(() => entries.flatMap(([, fields]) => parseChanges(fields)), position);
    }
  }

  async function run(): Promise<void> {
    if (redis.status !== "ready") await untilReady();
    while (!closed.signal.aborted) {
      await follow().catch(() => {});
      if (closed.signal.aborted) return;
      listener.onLost();
      await untilReady();
    }
  }

  async function untilReady(): Promise<void> {
    // one that hangs is let go: only a new connection tells whether Redis is there again
    if (redis.status === "ready") {
      const isGone = once(redis, "close", { signal: closed.signal }).catch(() => {});
      redis.disconnect(true);
      await isGone; // one that hangs takes its time, and seems to be ready until then
    }
    do await pause(LOOK_MS, undefined, { signal: closed.signal }).catch(() => {});
    while (redis.status !== "ready" && !closed.signal.aborted);
  }

  const running = run();
  return {
    async close() {
      closed.abort();
      redis.disconnect();
      await running;
    },
  };
}

/**
 * What was told after a position, as far as it is kept.
 * @returns "gap" where some of it is no longer kept, or the position is of another stream than today's; "many" where it is
 *   more than `most`
 */
export async function changesSince(
  redis: RedisConnection,
  prefix: string,
  position: string,
  most: number,
): Promise<Change[] | "gap" | "many"> {
  const key = changesKey(prefix);
  const [[oldest], [newest], entries] = (await Promise.all([
    redis.xrange(key, "-", "+", "COUNT", 1),
    redis.xrevrange(key, "+", "-", "COUNT", 1),
    redis.xrange(key, `(${position}`, "+", "COUNT", most + 1),
  ])) as [Entry[], Entry[], Entry[]];
  if (!oldest || !newest || isBefore(position, oldest[0]) || isBefore(newest[0], position)) {
    return position === BEGINNING && !oldest ? [] : "gap";
  }
  return entries.length > most ? "many" : entries.flatMap(([, fields]) => parseChanges(fields));
}

function isBefore(one: string, other: string): boolean {
  const [[ms = 0n, n = 0n], [otherMs = 0n, otherN = 0n]] = [one, other].map((id) => id.split("-").map(BigInt)) as [
    bigint[],
    bigint[],
  ];
  return ms < otherMs || (ms === otherMs && n < otherN);
}
