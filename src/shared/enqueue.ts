import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { QUEUES, type QueueDef, queuePrefix } from "./queues.ts";

const STATES = ["waiting", "active", "delayed", "failed", "prioritized"] as const;

/** The producers' side of the queues. Closed by whoever opened it; the connection stays its owner's. */
export class Queues {
  readonly #queues: ReadonlyMap<string, Queue>;

  constructor(connection: Redis, prefix: string) {
    const open = ({ name }: QueueDef) =>
      new Queue(name, { connection, prefix: queuePrefix(prefix, name), skipVersionCheck: true });
    this.#queues = new Map(QUEUES.map((def) => [def.name, open(def)]));
    for (const queue of this.#queues.values()) queue.on("error", () => {}); // the connection's owner logs it
  }

  /** Has a job of the queue run at each interval from now on. Saying it again changes nothing. */
  async repeat(def: QueueDef, everyMs: number): Promise<void> {
    const template = { opts: { attempts: def.attempts, removeOnComplete: true, removeOnFail: 100 } };
    await this.#get(def.name).upsertJobScheduler(def.name, { every: everyMs }, template);
  }

  /** How many jobs each queue holds in each state. Rejects while Redis is away. */
  async depths(): Promise<{ queue: string; state: string; count: number }[]> {
    const lists = await Promise.all(
      [...this.#queues].map(async ([name, queue]) => {
        const counts = await queue.getJobCounts(...STATES);
        return STATES.map((state) => ({ queue: name, state, count: counts[state] ?? 0 }));
      }),
    );
    return lists.flat();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #get(name: string): Queue {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`there is no queue ${name}`);
    return queue;
  }
}
