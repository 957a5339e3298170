import { setTimeout as pause } from "node:timers/promises";
import { type JobsOptions, Queue } from "bullmq";
import type { Static, TSchema } from "typebox";
import { Batcher, EQUAL_WEIGHTS } from "../batcher.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { agentHook, chat, deliveriesTo, heartbeat, notify, QUEUES, type QueueDef, queuePrefix } from "./definitions.ts";
import type { RedisConnection } from "./redis.ts";

/** Maximum time that a response waits for Redis to store a job. */
const ADD_TIMEOUT_MS = 500;

/** Interval of reading a job whose result a request waits for. */
const RESULT_POLL_MS = 100;
/** How long Redis keeps a result that nobody reads any more, in seconds. */
const RESULT_AGE_SECONDS = 60;

/** Waits until Redis has stored a job or refused it, for at most `ADD_TIMEOUT_MS`. Never rejects. */
async function waitAtMost(added: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ADD_TIMEOUT_MS).unref();
  added.then(resolve, () => resolve());
  await promise;
  clearTimeout(timer);
}

interface BulkJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions;
}

interface AddOptions {
  readonly jobId: string;
  readonly delayMs?: number;
  /** Lower is sooner. The default 0 is before all others. */
  readonly priority?: number;
}

interface DeliveryEntry {
  readonly deliveryId: string;
  readonly channel: string;
}

interface Occasion {
  /** A suffix of the queue entry's id, so that a delivery can be enqueued again while an earlier entry exists. */
  readonly occasion?: string | undefined;
  readonly delayMs?: number;
  readonly priority?: number;
}

const entryId = (deliveryId: string, occasion?: string) =>
  occasion === undefined ? deliveryId : `${deliveryId}-${occasion}`;

/** The name of BullMQ's only worker where Redis does not list its clients, as at some hosts. */
const NO_CLIENT_LIST = "GCP does not support client list";

/** The states of entries. Those that completed or failed are removed at once: the records hold their results. */
const STATES = ["waiting", "active", "delayed", "prioritized"] as const;

/** The producers' side of the queues. The caller closes it, and the connection separately. */
export class Queues {
  readonly #clock: Clock;
  readonly #queues: ReadonlyMap<string, Queue>;
  readonly #addBatchers: ReadonlyMap<string, Batcher<BulkJob, void>>;
  readonly #heartbeatTrigger: Batcher<void, void>;
  readonly #notifyTrigger: Batcher<void, void>;
  readonly #chatTrigger: Batcher<void, void>;

  /** @param clock the clock that all processes share, because any process may take a delayed entry by its own clock */
  constructor(connection: RedisConnection, prefix: string, clock: Clock = systemClock) {
    this.#clock = clock;
    const open = ({ name }: QueueDef) =>
      new Queue(name, { connection, prefix: queuePrefix(prefix, name), skipVersionCheck: true });
    this.#queues = new Map(QUEUES.map((def) => [def.name, open(def)]));
    for (const queue of this.#queues.values()) queue.on("error", () => {}); // the connection's owner logs it
    this.#addBatchers = new Map([...this.#queues].map(([name, queue]) => [name, addBatcher(queue)]));
    this.#heartbeatTrigger = triggerBatcher(get(this.#queues, heartbeat.name), { scheduled: false });
    this.#notifyTrigger = triggerBatcher(get(this.#queues, notify.name), {});
    this.#chatTrigger = triggerBatcher(get(this.#queues, chat.name), {});
  }

  /**
   * Adds a job to its queue, unless the queue contains one with the same id. Never rejects, and waits for at most
   * `ADD_TIMEOUT_MS`: the record already exists, and the sweep enqueues whatever is missing in Redis.
   */
  async add<P extends TSchema>(
    def: QueueDef<P>,
    payload: Static<P>,
    { jobId, delayMs = 0, priority = 0 }: AddOptions,
  ): Promise<void> {
    const backoff = { type: "exponential", delay: 1_000 };
    const timestamp = this.#clock.now().getTime();
    const removed = { removeOnComplete: true, removeOnFail: true };
    const waits = { delay: delayMs, ...(priority > 0 && { priority }), timestamp };
    const opts = { attempts: def.attempts, backoff, ...waits, ...removed, jobId };
    await waitAtMost(get(this.#addBatchers, def.name).add({ name: def.name, data: payload, opts }));
  }

  /**
   * Adds a job and returns the result of its processor. A job that no worker has begun within the time is removed.
   * @throws AppError unavailable while Redis is down, or if no worker completes the job within the time
   */
  async call<P extends TSchema>(def: QueueDef<P>, payload: Static<P>, withinMs: number): Promise<unknown> {
    const queue = get(this.#queues, def.name);
    const removed = { age: RESULT_AGE_SECONDS };
    const options = { attempts: 1, removeOnComplete: removed, removeOnFail: removed };
    const added = await queue.add(def.name, payload, options).catch(unavailable);
    const waitUntil = performance.now() + withinMs;
    try {
      while (performance.now() < waitUntil) {
        await pause(RESULT_POLL_MS);
        const job = await queue.getJob(added.id ?? "").catch(unavailable);
        if (!job || job.failedReason) break;
        if (job.finishedOn) return job.returnvalue;
      }
    } finally {
      await added.remove().catch(() => {}); // one that a worker holds cannot be removed
    }
    const detail = `No worker has answered within ${withinMs / 1_000} s. Check that a worker runs, then send the request again.`;
    throw new AppError("unavailable", { detail });
  }

  /** Triggers the dispatch of noted events: now, or once more after the active one. Never throws and never waits. */
  noted(): void {
    void waitAtMost(this.#notifyTrigger.add(undefined));
  }

  /** Triggers the handling of what people have done in chats, like `noted`. */
  triggerChat(): void {
    void waitAtMost(this.#chatTrigger.add(undefined));
  }

  /** Adds a delivery to the queue of its channel. Never rejects, like `add`. */
  deliver(
    { deliveryId, channel }: DeliveryEntry,
    { occasion, delayMs = 0, priority = 0 }: Occasion = {},
  ): Promise<void> {
    const jobId = entryId(deliveryId, occasion);
    return this.add(deliveriesTo(channel), { deliveryId }, { jobId, delayMs, priority });
  }

  /** Returns whether the queue contains a delivery under that `occasion`. @throws AppError unavailable while Redis is down */
  hasDelivery({ deliveryId, channel }: DeliveryEntry, { occasion }: Occasion): Promise<boolean> {
    return this.has(deliveriesTo(channel), entryId(deliveryId, occasion));
  }

  /** Triggers a turn of the main session: now, or once more after the active one. Never rejects, like `add`. */
  async triggerHeartbeat(): Promise<void> {
    await waitAtMost(this.#heartbeatTrigger.add(undefined));
  }

  /** Returns whether a job with this id is waiting, delayed or active. @throws AppError unavailable while Redis is down */
  async has(def: QueueDef, jobId: string): Promise<boolean> {
    return (await get(this.#queues, def.name).getJob(jobId).catch(unavailableIfAway)) !== undefined;
  }

  /**
   * Schedules a job of the queue at each interval, for the first time at once or after one interval. Repeating the call with
   * the same interval changes nothing.
   * @throws AppError unavailable while Redis is down
   */
  async schedule<P extends TSchema>(
    def: QueueDef<P>,
    data: Static<P>,
    { everyMs, immediately }: { everyMs: number; immediately: boolean },
  ): Promise<void> {
    const queue = get(this.#queues, def.name);
    const known = await queue.getJobScheduler(def.name).catch(unavailableIfAway);
    const now = this.#clock.now().getTime();
    // The process that ran the last job sets the time of the next one by its own clock, which may have been wrong.
    const isFarOff = (known?.next ?? 0) > now + 2 * everyMs;
    if (known?.every === everyMs && !isFarOff) return;
    if (isFarOff) await queue.removeJobScheduler(def.name).catch(unavailableIfAway);
    const template = { data, opts: { attempts: def.attempts, removeOnComplete: true, removeOnFail: true } };
    // Never later than before: processes that disagree on the interval would postpone the job for ever.
    const startDate = Math.min(isFarOff ? Infinity : (known?.next ?? Infinity), now + everyMs);
    const repeat = { every: everyMs, ...(!immediately && { startDate }) };
    await queue.upsertJobScheduler(def.name, repeat, template).catch(unavailableIfAway);
  }

  /** Removes the schedule of a queue, if it has one. @throws AppError unavailable while Redis is down */
  async unschedule({ name }: Pick<QueueDef, "name">): Promise<void> {
    await get(this.#queues, name).removeJobScheduler(name).catch(unavailableIfAway);
  }

  /**
   * Returns how many jobs each queue holds in each state. Leaves out queues whose cluster node is down.
   * @throws AppError unavailable while all of Redis is down
   */
  async depths(): Promise<{ queue: string; state: string; count: number }[]> {
    const lists = await Promise.allSettled(
      [...this.#queues].map(async ([name, queue]) => {
        const counts = await queue.getJobCounts(...STATES);
        // Jobs with a priority wait like the others, so `prioritized` is also counted in `waiting`.
        const count = (state: string) => (counts[state] ?? 0) + (state === "waiting" ? (counts.prioritized ?? 0) : 0);
        return STATES.map((state) => ({ queue: name, state, count: count(state) }));
      }),
    );
    const known = lists.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (known.length === 0) throw new AppError("unavailable", { detail: REDIS_AWAY });
    return known.flat();
  }

  /** Returns the number of connected worker processes; null if Redis does not name its clients. Rejects while Redis is down. */
  async countWorkers(): Promise<number | null> {
    const workers = await get(this.#queues, agentHook.name).getWorkers();
    return workers.some(({ name }) => name === NO_CLIENT_LIST) ? null : workers.length;
  }

  /** All BullMQ queues, for the tests. */
  get all(): readonly Queue[] {
    return [...this.#queues.values()];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }
}

function get<T>(all: ReadonlyMap<string, T>, name: string): T {
  const found = all.get(name);
  if (!found) throw new Error(`there is no queue ${name}`);
  return found;
}

/** Adds jobs that arrive at about the same time with one command. */
const addBatcher = (queue: Queue) =>
  new Batcher<BulkJob, void>(async (jobs) => {
    const [first] = jobs;
    const added = first && jobs.length === 1 ? queue.add(first.name, first.data, first.opts) : queue.addBulk([...jobs]);
    await added.catch(unavailable);
    return jobs.map(() => undefined);
  }, EQUAL_WEIGHTS);

/** Adds one entry for all callers that trigger the queue at about the same time. */
const triggerBatcher = (queue: Queue, data: object) =>
  new Batcher<void, void>(
    async (calls) => {
      const deduplication = { id: "trigger", keepLastIfActive: true };
      const options = { deduplication, removeOnComplete: true, removeOnFail: true };
      await queue.add(queue.name, data, options).catch(unavailable);
      return calls.map(() => undefined);
    },
    { maxBatchSize: Number.POSITIVE_INFINITY, maxBatchWeight: 1, weightOf: () => 0 },
  );

/** Turns any error of Redis into `unavailable`, so that the batcher does not repeat the batch item by item. */
function unavailable(error: unknown): never {
  throw new AppError("unavailable", { detail: REDIS_AWAY, cause: error });
}

/** Turns an error into `unavailable` if Redis cannot be reached or is not ready. Others, such as a bug, stay as they are. */
function unavailableIfAway(error: unknown): never {
  const { name, message } = error as Error;
  const isBug = error instanceof TypeError || (name === "ReplyError" && !NOT_READY.test(message));
  if (isBug) throw error;
  return unavailable(error);
}

/** The answers of a Redis that starts, or whose master is gone. */
const NOT_READY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

const REDIS_AWAY = "Redis cannot be reached. Send the same request again.";
