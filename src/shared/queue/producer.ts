import { type JobsOptions, Queue } from "bullmq";
import type { Static, TSchema } from "typebox";
import { Batcher, EQUAL_WEIGHTS } from "../batcher.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { deliveriesTo, heartbeat, QUEUES, type QueueDef, queuePrefix } from "./definitions.ts";
import type { RedisConnection } from "./redis.ts";

/** How long an answer waits for Redis to take a job. */
const ADD_WITHIN_MS = 500;

/** Waits for Redis to take a job, but not for long, and whatever comes of it. */
async function briefly(added: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ADD_WITHIN_MS).unref();
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
  /** Lower is sooner; 0, which is before all others, where nothing is said. */
  readonly priority?: number;
}

interface DeliveryEntry {
  readonly deliveryId: string;
  readonly channel: string;
}

interface Occasion {
  /** Tells one time that it is put on the queue from another. */
  readonly occasion?: string | undefined;
  readonly delayMs?: number;
}

const entryId = (deliveryId: string, occasion?: string) =>
  occasion === undefined ? deliveryId : `${deliveryId}-${occasion}`;

const STATES = ["waiting", "active", "delayed", "failed", "prioritized"] as const;

/** The producers' side of the queues. Closed by whoever opened it; the connection stays its owner's. */
export class Queues {
  readonly #clock: Clock;
  readonly #queues: ReadonlyMap<string, Queue>;
  readonly #adding: ReadonlyMap<string, Batcher<BulkJob, void>>;
  readonly #triggering: Batcher<void, void>;

  /** @param clock the one that all processes share: an entry that waits is given to whoever is free, by his own */
  constructor(connection: RedisConnection, prefix: string, clock: Clock = systemClock) {
    this.#clock = clock;
    const open = ({ name }: QueueDef) =>
      new Queue(name, { connection, prefix: queuePrefix(prefix, name), skipVersionCheck: true });
    this.#queues = new Map(QUEUES.map((def) => [def.name, open(def)]));
    for (const queue of this.#queues.values()) queue.on("error", () => {}); // the connection's owner logs it
    this.#adding = new Map([...this.#queues].map(([name, queue]) => [name, adding(queue)]));
    this.#triggering = triggering(get(this.#queues, heartbeat.name));
  }

  /**
   * Puts a job on its queue; one of the same id that is there already is left alone. Never rejects, and waits a short
   * while at most: the record says that there is work, and a sweep puts on the queue what Redis does not know.
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
    await briefly(get(this.#adding, def.name).add({ name: def.name, data: payload, opts }));
  }

  /** Puts a delivery on the queue of its channel. Never rejects, like `add`. */
  deliver({ deliveryId, channel }: DeliveryEntry, { occasion, delayMs = 0 }: Occasion = {}): Promise<void> {
    return this.add(deliveriesTo(channel), { deliveryId }, { jobId: entryId(deliveryId, occasion), delayMs });
  }

  /** Whether a delivery is on its queue, put there on that occasion. Rejects while Redis is away. */
  hasDelivery({ deliveryId, channel }: DeliveryEntry, { occasion }: Occasion): Promise<boolean> {
    return this.has(deliveriesTo(channel), entryId(deliveryId, occasion));
  }

  /** Has the main session take a turn: now, or once more after the one that runs. Never rejects, like `add`. */
  async triggerHeartbeat(): Promise<void> {
    await briefly(this.#triggering.add(undefined));
  }

  /** Whether a job of this id waits, is delayed or runs. Rejects while Redis is away. */
  async has(def: QueueDef, jobId: string): Promise<boolean> {
    return (await get(this.#queues, def.name).getJob(jobId)) !== undefined;
  }

  /** Has a job of the queue run at each interval, the first time at once or after one. Saying it again changes nothing. */
  async repeat<P extends TSchema>(
    def: QueueDef<P>,
    data: Static<P>,
    { everyMs, atOnce }: { everyMs: number; atOnce: boolean },
  ): Promise<void> {
    const queue = get(this.#queues, def.name);
    const known = await queue.getJobScheduler(def.name);
    const now = this.#clock.now().getTime();
    // Each time the next one is set by the clock of the process that ran the last, which may have been wrong.
    const isFarOff = (known?.next ?? 0) > now + 2 * everyMs;
    if (known?.every === everyMs && !isFarOff) return;
    if (isFarOff) await queue.removeJobScheduler(def.name);
    const template = { data, opts: { attempts: def.attempts, removeOnComplete: true, removeOnFail: true } };
    // Never later than it was to be: processes that do not agree on the interval would put it off for ever.
    const startDate = Math.min(isFarOff ? Infinity : (known?.next ?? Infinity), now + everyMs);
    await queue.upsertJobScheduler(def.name, { every: everyMs, ...(!atOnce && { startDate }) }, template);
  }

  /**
   * How many jobs each queue holds in each state; without those whose node of a cluster is away. Rejects while all of Redis
   * is.
   */
  async depths(): Promise<{ queue: string; state: string; count: number }[]> {
    const lists = await Promise.allSettled(
      [...this.#queues].map(async ([name, queue]) => {
        const counts = await queue.getJobCounts(...STATES);
        // jobs with a priority wait as those without do: `prioritized` is a part of `waiting`
        const count = (state: string) => (counts[state] ?? 0) + (state === "waiting" ? (counts.prioritized ?? 0) : 0);
        return STATES.map((state) => ({ queue: name, state, count: count(state) }));
      }),
    );
    const known = lists.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (known.length === 0) throw new AppError("unavailable");
    return known.flat();
  }

  /** For a board that shows them. */
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

/** Adds jobs that arrive at about the same time by one command. */
const adding = (queue: Queue) =>
  new Batcher<BulkJob, void>(async (jobs) => {
    const [first] = jobs;
    const added = first && jobs.length === 1 ? queue.add(first.name, first.data, first.opts) : queue.addBulk([...jobs]);
    await added.catch(unavailable);
    return jobs.map(() => undefined);
  }, EQUAL_WEIGHTS);

/** One entry for all that ask for a turn at about the same time. */
const triggering = (queue: Queue) =>
  new Batcher<void, void>(
    async (all) => {
      const deduplication = { id: "trigger", keepLastIfActive: true };
      const options = { deduplication, removeOnComplete: true, removeOnFail: true };
      await queue.add(heartbeat.name, { scheduled: false }, options).catch(unavailable);
      return all.map(() => undefined);
    },
    { maxBatchSize: Number.POSITIVE_INFINITY, maxBatchWeight: 1, weightOf: () => 0 },
  );

/** Redis is away, for one of them as for all. */
function unavailable(error: unknown): never {
  throw new AppError("unavailable", { cause: error });
}
