import { setImmediate } from "node:timers/promises";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import type { Login } from "../auth/access.ts";
import { changesSince, readChanges } from "./changeReader.ts";
import { EventStream, eventText } from "./eventStream.ts";
import { News, type Wanted } from "./news.ts";

interface Listener {
  readonly stream: EventStream;
  readonly wanted: Wanted;
  /** Of a browser whose log-in the stream may not outlive. */
  readonly login: Login | undefined;
  /** Where it is to resume, as soon as the feed is live. */
  from: string | undefined;
  /** What came while it still catches up; null once it has. */
  held: Change[] | null;
}

export interface LiveFeedDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly prefix: string;
  /** Asks; fails at once while Redis is away. Stays its owner's. */
  readonly redis: RedisConnection;
  /** Of the feed's own, to wait on. */
  readonly reader: RedisConnection;
  /** How often a stream shows that it is alive. */
  readonly beatMs: number;
}

/** Changes of so short a while are told together: of a job that changes all the time its latest state alone. */
const TOGETHER_MS = 100;
/** To tell many listeners of many changes takes longer; requests are answered in between. What is sent is not counted. */
const MOST_MS_AT_A_TIME = 1;
const AGAIN_AFTER_MS = 1_000;
const MOST_CHANGES = 2_000;
const MOST_ENTRIES_BEHIND = 500;
const POSITION = /^\d{1,16}-\d{1,16}$/;

/**
 * Tells all clients of this process what changes, whichever process changes it: reads each changed record once, however many
 * listen, and only when somebody does.
 */
export class LiveFeed {
  readonly #deps: LiveFeedDeps;
  readonly #listeners = new Set<Listener>();
  readonly #reading: { close(): Promise<void> };
  readonly #beating: NodeJS.Timeout;
  #stores: Stores;
  /** Of the newest change heard of; null while nothing is heard. */
  #position: string | null = null;
  /** Of the newest change that all have been told of who have caught up. */
  #toldUpTo: string | null = null;
  #pending: Change[] = [];
  #telling = false;
  #isEnded = false;

  constructor(stores: Stores, deps: LiveFeedDeps) {
    this.#stores = stores;
    this.#deps = deps;
    this.#reading = readChanges(deps.reader, deps.prefix, {
      onLive: (position, gap) => this.#onLive(position, gap),
      onLost: () => this.#onLost(),
      onChanges: (unpack, position) => this.#onChanges(unpack, position),
    });
    this.#beating = setInterval(() => this.#beat(), deps.beatMs).unref();
  }

  /** How many streams are open. */
  get size(): number {
    return this.#listeners.size;
  }

  /**
   * A stream of what happens from now on, or from a position on that an earlier stream has told. It ends with the log-in.
   * @throws AppError unavailable once the process is stopping
   */
  open(wanted: Wanted, lastEventId: string | undefined, login?: Login): EventStream {
    if (this.#isEnded) throw new AppError("unavailable", { retryAfterSeconds: 1 });
    const stream = new EventStream();
    const listener: Listener = { stream, wanted, login, from: lastEventId, held: null };
    this.#listeners.add(listener);
    stream.once("close", () => this.#listeners.delete(listener));
    if (this.#position === null) stream.send([state(false)]);
    else this.#welcome(listener, this.#position, []);
    return stream;
  }

  /** Ends the streams of a cookie that has logged out; other processes end theirs at their next heart-beat. */
  endLogin(cookie: string): void {
    for (const { stream, login } of this.#listeners) if (login?.cookie === cookie) stream.end();
  }

  /** Ends all streams; their clients come back. @param stores what to read from then on */
  restart(stores: Stores): void {
    this.#stores = stores;
    for (const { stream } of this.#listeners) stream.end();
  }

  /** Ends all streams, and opens no other. */
  end(): void {
    this.#isEnded = true;
    for (const { stream } of this.#listeners) stream.end();
  }

  async close(): Promise<void> {
    this.end();
    clearInterval(this.#beating);
    await this.#reading.close();
  }

  /** Tells a listener that the feed is live, and what it missed where it resumes. */
  #welcome(listener: Listener, position: string, events: readonly string[]): void {
    const { stream, from } = listener;
    listener.from = undefined;
    if (from === undefined) stream.send([state(true), ...events], position);
    else void this.#catchUp(listener, from);
  }

  async #catchUp(listener: Listener, from: string): Promise<void> {
    const { redis, prefix, log } = this.#deps;
    const { stream } = listener;
    listener.held = [];
    stream.send([state(true)]);
    try {
      // as it is before what is told is read: what is heard meanwhile is held, and lies behind it
      let position = this.#position ?? undefined;
      let missed = POSITION.test(from) ? await changesSince(redis, prefix, from, MOST_ENTRIES_BEHIND) : "gap";
      for (;;) {
        if (typeof missed === "string") stream.send([reload(missed)], position);
        else await this.#tell(missed, [listener], position);
        missed = listener.held;
        if (missed.length === 0) break;
        position = this.#position ?? undefined;
        listener.held = [];
      }
    } catch (error) {
      log.debug({ err: error }, "a stream of events could not be resumed");
      stream.send([reload("gap")], this.#position ?? undefined);
    }
    listener.held = null;
  }

  #onLive(position: string, gap: boolean): void {
    this.#position = position;
    if (this.#pending.length === 0) this.#toldUpTo = position;
    for (const listener of this.#listeners) this.#welcome(listener, position, gap ? [reload("gap")] : []);
  }

  #onLost(): void {
    if (this.#position === null) return;
    this.#position = null;
    for (const { stream } of this.#listeners) stream.send([state(false)]);
  }

  #onChanges(unpack: () => readonly Change[], position: string): void {
    this.#position = position;
    if (this.#listeners.size === 0 && !this.#telling) this.#toldUpTo = position;
    if (this.#listeners.size === 0) return;
    const changes = unpack();
    for (const { held } of this.#listeners) held?.push(...changes);
    this.#pending.push(...changes);
    if (!this.#telling) void this.#tellSoon(TOGETHER_MS);
  }

  async #tellSoon(afterMs: number): Promise<void> {
    this.#telling = true;
    await new Promise((resolve) => setTimeout(resolve, afterMs).unref());
    const changes = this.#pending;
    const position = this.#position;
    this.#pending = [];
    let againMs = TOGETHER_MS;
    try {
      const ready = [...this.#listeners].filter(({ held }) => held === null);
      await this.#tell(changes, ready, position ?? undefined);
      this.#toldUpTo = position;
    } catch (error) {
      this.#deps.log.debug({ err: error }, "what has changed cannot be read; trying again");
      this.#pending = [...changes, ...this.#pending].slice(-MOST_CHANGES - 1);
      againMs = AGAIN_AFTER_MS;
    }
    this.#telling = false;
    if (this.#pending.length > 0 && !this.#isEnded) void this.#tellSoon(againMs);
  }

  async #tell(changes: readonly Change[], listeners: readonly Listener[], position?: string): Promise<void> {
    const tooMany = changes.length > MOST_CHANGES;
    const first = tooMany || changes.some(({ kind }) => kind === "many") ? [reload("many")] : [];
    const wanted = listeners.map((listener) => listener.wanted);
    const news = tooMany ? null : await News.read(this.#stores, changes, wanted);
    const now = this.#deps.clock.now();
    let since = performance.now();
    for (const { stream, wanted } of listeners) {
      if (performance.now() - since > MOST_MS_AT_A_TIME) {
        await setImmediate();
        since = performance.now();
      }
      stream.send([...first, ...(news?.for(wanted, now) ?? [])], position);
    }
  }

  /** Nobody is told to resume behind what he has still to be told. */
  #beat(): void {
    const position = this.#position && this.#toldUpTo;
    for (const { stream, held } of this.#listeners) stream.beat(held ? null : position);
    void this.#endOverLogins().catch((error) => {
      this.#deps.log.debug(
        { err: error },
        "which log-ins have ended cannot be read; trying again at the next heart-beat",
      );
    });
  }

  async #endOverLogins(): Promise<void> {
    const logins = [...this.#listeners].flatMap(({ login }) => login ?? []);
    if (logins.length === 0) return;
    const now = this.#deps.clock.now();
    const ended = await this.#stores.endedLogins.filterEnded([...new Set(logins.map(({ cookie }) => cookie))]);
    for (const { cookie, until } of logins) if (until <= now || ended.includes(cookie)) this.endLogin(cookie);
  }
}

const state = (live: boolean) => eventText("state", { live });
const reload = (reason: "gap" | "many") => eventText("reload", { reason });
