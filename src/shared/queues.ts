import Type, { type TSchema } from "typebox";

/** What producers and workers agree on for one queue. `attempts` counts the first try; `timeoutMs` bounds each. */
export interface QueueDef<P extends TSchema = TSchema> {
  readonly name: string;
  readonly payload: P;
  readonly attempts: number;
  readonly timeoutMs: number;
}

const queue = <P extends TSchema>(def: QueueDef<P>): QueueDef<P> => def;

/** Deletes ended jobs that are older than the configuration keeps them, and what deletions left behind. */
export const retention = queue({
  name: "retention",
  payload: Type.Object({}),
  attempts: 1,
  timeoutMs: 10 * 60_000,
});

export const QUEUES: readonly QueueDef[] = [retention];

/** What the keys of a queue begin with: the braces keep one queue's keys on one node of a Redis Cluster. */
export const queuePrefix = (prefix: string, name: string): string => `{${prefix}:${name}}`;
