import { readRunHeads } from "../../models/runs/readRuns.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { ChangeListener } from "../../shared/queue/changeReader.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import { readRunEvents } from "../../shared/queue/runEvents.ts";
import { type EndingAccess, stillValid } from "../auth/stillValid.ts";
import { type EventStream, formatLiveEvent } from "./eventStream.ts";
import { Feed } from "./feed.ts";

interface Subscriber {
  readonly runId: string;
  readonly stream: EventStream;
  readonly access: EndingAccess;
  /** The id of the last event that was sent. */
  position: string;
  /** The change since the last read: `events` alone, or perhaps the `run` too; null if there is none. */
  stale: "events" | "run" | null;
  isReading: boolean;
  /** Whether the last read failed. The next heartbeat reads again. */
  hasFailed: boolean;
  /** Whether the run was read before: one that had ended by then gets only its end. */
  hasStarted: boolean;
}

export interface RunFeedDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly prefix: string;
  /** Reads the events of runs; its commands fail at once while Redis is unavailable. The caller closes it. */
  readonly redis: RedisConnection;
  readonly heartbeatMs: number;
  /** Interval in which the end of runs is looked for while Redis is unavailable. */
  readonly pollMs: number;
}

const BEFORE_ALL = "0-0";
const POSITION = /^\d{1,16}-\d{1,16}$/;

/**
 * Sends the events of runs to the event streams of this process. The events lie in Redis alone, and the changes that all
 * processes read say which runs have new ones; the end of a run is read in MongoDB. A stream thus ends with its run also while
 * Redis is unavailable, when the state of each run is read every `pollMs`.
 */
export class RunFeed extends Feed<Subscriber> implements ChangeListener {
  readonly #deps: RunFeedDeps;
  #polling: NodeJS.Timeout | undefined;

  constructor(stores: Stores, deps: RunFeedDeps) {
    super(stores, deps.heartbeatMs);
    this.#deps = deps;
    this.onDisconnected(); // until Redis is connected
  }

  /**
   * Opens the stream of a run: the events that are kept, or those after `lastEventId`, and all further ones until its end.
   * @throws AppError unavailable once the process is stopping
   */
  open(runId: string, lastEventId: string | undefined, access: EndingAccess): EventStream {
    const position = lastEventId !== undefined && POSITION.test(lastEventId) ? lastEventId : BEFORE_ALL;
    const subscriber = this.add((stream) => ({
      runId,
      stream,
      access,
      position,
      stale: null,
      isReading: false,
      hasFailed: false,
      hasStarted: false,
    }));
    void this.#update(subscriber, "run");
    return subscriber.stream;
  }

  onConnected(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
    this.#updateAll();
  }

  onDisconnected(): void {
    this.#polling ??= setInterval(() => this.#updateAll(), this.#deps.pollMs).unref();
  }

  onChanges(unpack: () => readonly Change[]): void {
    if (this.subscribers.size === 0) return;
    const changes = unpack();
    if (changes.some(({ kind }) => kind === "many")) this.#updateAll();
    const changed = new Map<string, "events" | "run">();
    for (const change of changes) {
      if (change.kind === "run") changed.set(change.id, "run");
      if (change.kind === "turn" && !changed.has(change.id)) changed.set(change.id, "events");
    }
    for (const subscriber of this.subscribers) {
      const stale = changed.get(subscriber.runId);
      if (stale) void this.#update(subscriber, stale);
    }
  }

  #updateAll(): void {
    for (const subscriber of this.subscribers) void this.#update(subscriber, "run");
  }

  /** Reads and sends what is new. Calls during a read cause one more read. */
  async #update(subscriber: Subscriber, stale: "events" | "run"): Promise<void> {
    if (subscriber.stale !== "run") subscriber.stale = stale;
    if (subscriber.isReading) return;
    subscriber.isReading = true;
    while (subscriber.stale && !subscriber.stream.destroyed) {
      const changed = subscriber.stale;
      subscriber.stale = null;
      subscriber.hasFailed = false;
      try {
        if (changed === "run") await this.#sendWithRun(subscriber);
        else await this.#sendEvents(subscriber);
      } catch (error) {
        subscriber.hasFailed = true;
        this.#deps.log.debug({ err: error }, "the events of a run could not be read; the read is retried");
      }
    }
    subscriber.isReading = false;
  }

  /**
   * Sends the new events and, if the run has ended, its end, which is read first. The events were written before it; those that the
   * worker of a cancelled run still writes are not sent.
   */
  async #sendWithRun(subscriber: Subscriber): Promise<void> {
    const { runId, stream, hasStarted } = subscriber;
    const [run] = await readRunHeads(this.stores, [runId]);
    const isOver = !run || run.endedAt !== null;
    if (!isOver || hasStarted) {
      await this.#sendEvents(subscriber).catch((error) => {
        if (!isOver) throw error;
      });
    }
    subscriber.hasStarted = true;
    if (run && isOver) stream.send([formatLiveEvent(run.status === "failed" ? "run.failed" : "run.completed", run)]);
    if (isOver) stream.end();
  }

  async #sendEvents(subscriber: Subscriber): Promise<void> {
    const { runId, stream, position } = subscriber;
    for (const { id, event, data } of await readRunEvents(this.#deps, runId, position)) {
      stream.send([formatLiveEvent(event, data)], id);
      subscriber.position = id;
    }
  }

  protected override sendHeartbeats(): void {
    for (const subscriber of this.subscribers) {
      subscriber.stream.sendHeartbeat(null);
      if (subscriber.hasFailed) void this.#update(subscriber, "run");
      void this.#endIfExpired(subscriber).catch((error) => {
        this.#deps.log.debug({ err: error }, "the right of a caller could not be read; it is read again");
      });
    }
  }

  async #endIfExpired({ stream, access }: Subscriber): Promise<void> {
    const isExpired = access.expiresAt !== undefined && access.expiresAt <= this.#deps.clock.now();
    if (isExpired || !(await stillValid(this.stores, access))) stream.end();
  }

  override close(): void {
    super.close();
    clearInterval(this.#polling);
  }
}
