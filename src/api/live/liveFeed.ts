import { setImmediate } from "node:timers/promises";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { type ChangeListener, changesSince } from "../../shared/queue/changeReader.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import type { Caller } from "../auth/caller.ts";
import { ChangedRecords, type Subscription, subscribedJob } from "./changedRecords.ts";
import { type EventStream, formatLiveEvent } from "./eventStream.ts";
import { Feed } from "./feed.ts";

/** The log-in or the expiry with which a stream ends. */
export type StreamAccess = Pick<Caller, "cookie" | "expiresAt">;

interface Subscriber {
  readonly stream: EventStream;
  readonly subscription: Subscription;
  /** The stream ends when the token or the log-in of its caller does, and with the job of a job token. */
  readonly access: StreamAccess;
  /** The position to resume at once the feed is live. */
  resumeFrom: string | undefined;
  /** Changes received while the subscriber catches up; null at other times. */
  backlog: Change[] | null;
}

export interface LiveFeedDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly prefix: string;
  /** Reads missed changes; its commands fail at once while Redis is unavailable. The caller closes it. */
  readonly redis: RedisConnection;
  /** Interval of heartbeats. */
  readonly heartbeatMs: number;
}

/** How long changes are collected: a job that changes all the time is sent once, in its latest state. */
const COALESCE_MS = 100;
/** Maximum time that sending to many subscribers blocks the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 1;
const RETRY_MS = 1_000;
/** Maximum changes that are read together; above it, clients receive a `reload`. */
const MAX_CHANGES = 2_000;
/** Maximum stream entries that a resuming client may have missed; above it, it receives a `reload`. */
const MAX_MISSED_ENTRIES = 500;
const POSITION = /^\d{1,16}-\d{1,16}$/;

/**
 * Sends the changes of all processes to the event streams of this process. Reads each changed record once for all
 * subscribers, and not at all when there are none.
 *
 * The feed is either live (`#position` is set) or disconnected from Redis (`#position` is null). A subscriber is in one of
 * three states: it waits for the feed to become live with `resumeFrom`; it catches up on missed changes, and `backlog`
 * collects what arrives meanwhile; or it is current, and receives each batch of changes.
 */
export class LiveFeed extends Feed<Subscriber> implements ChangeListener {
  readonly #deps: LiveFeedDeps;
  /** The position of the newest change received; null while disconnected. */
  #position: string | null = null;
  /** The position up to which all current subscribers have received the changes. */
  #sentPosition: string | null = null;
  #pending: Change[] = [];
  #isFlushing = false;

  constructor(stores: Stores, deps: LiveFeedDeps) {
    super(stores, deps.heartbeatMs);
    this.#deps = deps;
  }

  /**
   * Opens a stream of changes from now on, or from the position that an earlier stream has sent.
   * @throws AppError unavailable once the process is stopping
   */
  open(subscription: Subscription, lastEventId: string | undefined, access: StreamAccess = {}): EventStream {
    const resumeFrom = lastEventId;
    const subscriber = this.add((stream) => ({ stream, subscription, access, resumeFrom, backlog: null }));
    if (this.#position === null) subscriber.stream.send([state(false)]);
    else this.#start(subscriber, this.#position, []);
    return subscriber.stream;
  }

  /** Ends the streams of a cookie that has logged out; other processes end theirs at their next heartbeat. */
  endLogin(cookie: string): void {
    for (const { stream, access } of this.subscribers) if (access.cookie === cookie) stream.end();
  }

  /** Sends that the feed is live, and the changes that a resuming client has missed. */
  #start(subscriber: Subscriber, position: string, events: readonly string[]): void {
    const { stream, resumeFrom } = subscriber;
    subscriber.resumeFrom = undefined;
    if (resumeFrom === undefined) stream.send([state(true), ...events], position);
    else void this.#catchUp(subscriber, resumeFrom);
  }

  async #catchUp(subscriber: Subscriber, resumeFrom: string): Promise<void> {
    const { redis, prefix, log } = this.#deps;
    const { stream } = subscriber;
    subscriber.backlog = [];
    stream.send([state(true)]);
    try {
      // taken before the records are read: changes that arrive meanwhile are in the backlog and come after it
      let position = this.#position ?? undefined;
      let missed = POSITION.test(resumeFrom)
        ? await changesSince(redis, prefix, resumeFrom, MAX_MISSED_ENTRIES)
        : "gap";
      for (;;) {
        if (typeof missed === "string") stream.send([reload(missed)], position);
        else await this.#send(missed, [subscriber], position);
        missed = subscriber.backlog;
        if (missed.length === 0) break;
        position = this.#position ?? undefined;
        subscriber.backlog = [];
      }
    } catch (error) {
      log.debug({ err: error }, "an event stream could not be resumed");
      stream.send([reload("gap")], this.#position ?? undefined);
    }
    subscriber.backlog = null;
  }

  onConnected(position: string, gap: boolean): void {
    this.#position = position;
    if (this.#pending.length === 0) this.#sentPosition = position;
    for (const subscriber of this.subscribers) this.#start(subscriber, position, gap ? [reload("gap")] : []);
  }

  onDisconnected(): void {
    if (this.#position === null) return;
    this.#position = null;
    for (const { stream } of this.subscribers) stream.send([state(false)]);
  }

  onChanges(unpack: () => readonly Change[], position: string): void {
    this.#position = position;
    const changes = this.subscribers.size === 0 ? [] : unpack().filter(({ kind }) => kind !== "turn");
    if (changes.length === 0 && !this.#isFlushing) this.#sentPosition = position;
    if (changes.length === 0) return;
    for (const { backlog } of this.subscribers) backlog?.push(...changes);
    this.#pending.push(...changes);
    if (!this.#isFlushing) void this.#flushAfter(COALESCE_MS);
  }

  async #flushAfter(delayMs: number): Promise<void> {
    this.#isFlushing = true;
    await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
    const changes = this.#pending;
    const position = this.#position;
    this.#pending = [];
    let nextDelayMs = COALESCE_MS;
    try {
      const ready = [...this.subscribers].filter(({ backlog }) => backlog === null);
      await this.#send(changes, ready, position ?? undefined);
      this.#sentPosition = position;
    } catch (error) {
      this.#deps.log.debug({ err: error }, "changed records could not be read; the read is retried");
      this.#pending = [...changes, ...this.#pending].slice(-MAX_CHANGES - 1);
      nextDelayMs = RETRY_MS;
    }
    this.#isFlushing = false;
    if (this.#pending.length > 0 && !this.isEnded) void this.#flushAfter(nextDelayMs);
  }

  async #send(changes: readonly Change[], subscribers: readonly Subscriber[], position?: string): Promise<void> {
    const tooMany = changes.length > MAX_CHANGES;
    const first = tooMany || changes.some(({ kind }) => kind === "many") ? [reload("many")] : [];
    const subscriptions = subscribers.map(({ subscription }) => subscription);
    const records = tooMany ? null : await ChangedRecords.read(this.stores, changes, subscriptions);
    const now = this.#deps.clock.now();
    let since = performance.now();
    for (const { stream, subscription, access } of subscribers) {
      if (performance.now() - since > MAX_BLOCKING_MS) {
        await setImmediate();
        since = performance.now();
      }
      if (hasExpired(access, now)) stream.end();
      else stream.send([...first, ...(records?.eventsFor(subscription, now) ?? [])], position);
      if (records?.endsSubscription(subscription)) stream.end();
    }
  }

  /** Sends heartbeats. Their position never lies after changes that a subscriber has yet to receive. */
  protected override sendHeartbeats(): void {
    const position = this.#position && this.#sentPosition;
    for (const { stream, backlog } of this.subscribers) stream.sendHeartbeat(backlog ? null : position);
    void this.#endExpired().catch((error) => {
      this.#deps.log.debug({ err: error }, "ended logins could not be read; the read is retried at the next heartbeat");
    });
  }

  async #endExpired(): Promise<void> {
    const now = this.#deps.clock.now();
    for (const { stream, access } of this.subscribers) if (hasExpired(access, now)) stream.end();
    for (const { stream, subscription } of this.subscribers) {
      const own = subscribedJob(subscription);
      // the change that removed the job may not have been named: it was one of many, or Redis was unavailable
      if (own && !(await this.stores.jobs.exists(own))) stream.end();
    }
    const cookies = [...this.subscribers].flatMap(({ access }) => access.cookie ?? []);
    if (cookies.length === 0) return;
    for (const cookie of await this.stores.endedLogins.filterEnded([...new Set(cookies)])) this.endLogin(cookie);
  }
}

const hasExpired = ({ expiresAt }: StreamAccess, now: Date): boolean => expiresAt !== undefined && expiresAt <= now;

const state = (live: boolean) => formatLiveEvent("state", { live });
const reload = (reason: "gap" | "many") => formatLiveEvent("reload", { reason });
