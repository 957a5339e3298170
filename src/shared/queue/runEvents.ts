import { withTimeout } from "../timeouts.ts";
import type { ChangeNotifier } from "./changeStream.ts";
import type { RedisConnection } from "./redis.ts";

/** An event of a running run. `id` is its position in the stream. */
interface StoredRunEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Maximum events of a run that Redis keeps and a new reader receives. */
const MAX_EVENTS = 100;
/** Maximum characters of text in one event: 100 of them fill at most some hundred KiB of Redis. */
const MAX_TEXT_CHARS = 4_096;
/** Interval in which texts are joined: short enough to read along, and five writes a second for each run at most. */
const INTERVAL_MS = 200;
/** How long the events of a turn that has ended are kept, for readers that have yet to receive the last ones. */
const KEPT_MS = 60_000;
/** Maximum time that the end of a turn waits for its last events, so that a Redis that hangs delays no run. */
const LAST_WRITE_MS = 500;

const keyOf = (prefix: string, runId: string): string => `${prefix}:run:${runId}:events`;

/** The Redis connection and prefix under which the events of runs are written. */
export interface RunEventsDeps {
  /** A producer's connection, whose commands fail at once while Redis is unavailable. */
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly changes: ChangeNotifier;
}

interface WaitingEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/**
 * Writes the events of one turn to the stream of its run in Redis, and notifies the readers of all processes. Never throws:
 * events that Redis does not take are dropped. Pieces of text that follow each other within `INTERVAL_MS` become one event.
 */
export class RunEventWriter {
  readonly #deps: RunEventsDeps;
  readonly #runId: string;
  readonly #keepMs: number;
  #waiting: WaitingEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** Begins the stream of a turn; events of an earlier turn are deleted. @param timeoutMs the time limit of the turn */
  constructor(deps: RunEventsDeps, runId: string, timeoutMs: number) {
    this.#deps = deps;
    this.#runId = runId;
    this.#keepMs = timeoutMs + KEPT_MS;
    const { redis, prefix } = deps;
    // Trimmed and not deleted, so that the ids go on and clients may resume after the last one that they have.
    this.#writing = redis.xtrim(keyOf(prefix, runId), "MAXLEN", 0).then(
      () => {},
      () => {},
    );
  }

  add(event: string, data: object): void {
    this.#push({ event, data: { ...data } });
  }

  /** Adds a piece of text. @param member the member of the event that holds the text */
  addText(event: string, member: string, text: string): void {
    for (let start = 0; start < text.length; start += MAX_TEXT_CHARS) {
      const piece = text.slice(start, start + MAX_TEXT_CHARS);
      const last = this.#waiting.at(-1);
      const joined = last?.event === event ? `${last.data[member]}${piece}` : "";
      if (last && joined !== "" && joined.length <= MAX_TEXT_CHARS) last.data[member] = joined;
      else this.#push({ event, data: { [member]: piece } });
    }
  }

  #push(event: WaitingEvent): void {
    this.#waiting.push(event);
    if (this.#waiting.length > MAX_EVENTS) this.#waiting.shift();
    this.#timer ??= setTimeout(() => this.#flush(this.#keepMs), INTERVAL_MS);
  }

  /** Writes the last events. Resolves when Redis has stored or refused them, after `LAST_WRITE_MS` at the latest. */
  async close(): Promise<void> {
    this.#flush(KEPT_MS);
    await withTimeout(this.#writing, LAST_WRITE_MS).catch(() => {});
  }

  #flush(keepMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write(keepMs)).catch(() => {});
  }

  async #write(keepMs: number): Promise<void> {
    const events = this.#waiting;
    this.#waiting = [];
    const { redis, prefix, changes } = this.#deps;
    const key = keyOf(prefix, this.#runId);
    const commands = redis.pipeline();
    for (const { event, data } of events)
      commands.xadd(key, "MAXLEN", MAX_EVENTS, "*", "e", event, "d", JSON.stringify(data));
    await commands.pexpire(key, keepMs).exec();
    if (events.length > 0) changes.notify({ kind: "turn", id: this.#runId });
  }
}

/**
 * Reads the events of a run after a position, oldest first.
 * @param position the id of an event, or `0-0` for all that are kept
 */
export async function readRunEvents(
  { redis, prefix }: Pick<RunEventsDeps, "redis" | "prefix">,
  runId: string,
  position: string,
): Promise<StoredRunEvent[]> {
  const entries = await redis.xrange(keyOf(prefix, runId), `(${position}`, "+", "COUNT", MAX_EVENTS);
  return entries.map(([id, [, event = "", , data = "{}"]]) => ({ id, event, data: JSON.parse(data) }));
}
