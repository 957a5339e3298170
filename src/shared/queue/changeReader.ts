import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { withTimeout } from "../timeouts.ts";
import { TIMINGS, type Timings } from "../timings.ts";
import { type Change, changesKey, parseChanges } from "./changeStream.ts";
import type { RedisConnection } from "./redis.ts";

/** Receives the changes of all processes. The calls have the order of the stream. */
export interface ChangeListener {
  /** Called when reading starts at `position`; `gap` when changes may have been missed since the last call. */
  onConnected(position: string, gap: boolean): void;
  /** Called when the connection is lost; no more changes follow until `onConnected`. */
  onDisconnected(): void;
  /**
   * @param unpack parses the changes, which is expensive: call it only when they are needed. All listeners share the result.
   * @param position the position of the newest change
   */
  onChanges(unpack: () => readonly Change[], position: string): void;
}

/** Interval at which the state of the connection is checked during a reconnect. */
const POLL_MS = 100;
/** Maximum stream entries of one read. */
const READ_COUNT = 500;
const EMPTY_STREAM_POSITION = "0-0";

type Entry = [id: string, fields: string[]];

/**
 * Follows the change stream of all processes, from now on until it is closed. Reconnects when Redis is unavailable or hangs.
 * @param redis a dedicated connection whose commands fail at once while Redis is unavailable; `close` disconnects it
 */
export function readChanges(
  redis: RedisConnection,
  prefix: string,
  listeners: readonly ChangeListener[],
  { blockMs, graceMs }: Timings["readChanges"] = TIMINGS.readChanges,
): { close(): Promise<void> } {
  const key = changesKey(prefix);
  const timeoutMs = blockMs + graceMs;
  const closed = new AbortController();
  let isFirst = true;

  async function follow(): Promise<void> {
    const newest = await withTimeout(redis.xrevrange(key, "+", "-", "COUNT", 1), timeoutMs);
    let position = (newest as Entry[])[0]?.[0] ?? EMPTY_STREAM_POSITION;
    for (const listener of listeners) listener.onConnected(position, !isFirst);
    isFirst = false;
    while (!closed.signal.aborted) {
      const found = await withTimeout(
        redis.xread("COUNT", READ_COUNT, "BLOCK", blockMs, "STREAMS", key, position),
        timeoutMs,
      );
      const entries = (found?.[0]?.[1] ?? []) as Entry[];
      const last = entries.at(-1);
      if (!last) continue;
      position = last[0];
      let changes: readonly Change[] | undefined;
      const unpack = () => {
        changes ??= entries.flatMap(([, fields]) => parseChanges(fields));
        return changes;
      };
      for (const listener of listeners) listener.onChanges(unpack, position);
    }
  }

  async function run(): Promise<void> {
    if (redis.status !== "ready") await waitUntilReady();
    while (!closed.signal.aborted) {
      await follow().catch(() => {});
      if (closed.signal.aborted) return;
      for (const listener of listeners) listener.onDisconnected();
      await waitUntilReady();
    }
  }

  async function waitUntilReady(): Promise<void> {
    // drops a connection that hangs: only a new one shows whether Redis is available again
    if (redis.status === "ready") {
      const disconnected = once(redis, "close", { signal: closed.signal }).catch(() => {});
      redis.disconnect(true);
      await disconnected; // until then the status of a hanging connection stays "ready"
    }
    do await pause(POLL_MS, undefined, { signal: closed.signal }).catch(() => {});
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
 * Reads the changes after a position.
 * @param maxEntries maximum number of stream entries
 * @returns "gap" when the stream no longer contains all of them, or the position belongs to a former stream; "many" when
 *   there are more than `maxEntries`
 */
export async function changesSince(
  redis: RedisConnection,
  prefix: string,
  position: string,
  maxEntries: number,
): Promise<Change[] | "gap" | "many"> {
  const key = changesKey(prefix);
  const [[oldest], [newest], entries] = (await Promise.all([
    redis.xrange(key, "-", "+", "COUNT", 1),
    redis.xrevrange(key, "+", "-", "COUNT", 1),
    redis.xrange(key, `(${position}`, "+", "COUNT", maxEntries + 1),
  ])) as [Entry[], Entry[], Entry[]];
  if (!oldest || !newest || isBefore(position, oldest[0]) || isBefore(newest[0], position)) {
    return position === EMPTY_STREAM_POSITION && !oldest ? [] : "gap";
  }
  return entries.length > maxEntries ? "many" : entries.flatMap(([, fields]) => parseChanges(fields));
}

function isBefore(position: string, other: string): boolean {
  const [[ms = 0n, n = 0n], [otherMs = 0n, otherN = 0n]] = [position, other].map((id) => id.split("-").map(BigInt)) as [
    bigint[],
    bigint[],
  ];
  return ms < otherMs || (ms === otherMs && n < otherN);
}
