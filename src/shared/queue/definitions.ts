import Type, { type TSchema } from "typebox";
import { CHANNELS } from "../config/formats/channelNames.ts";

/** What producers and workers agree on for one queue. `attempts` counts the first try. */
export interface QueueDef<P extends TSchema = TSchema> {
  readonly name: string;
  readonly payload: P;
  readonly attempts: number;
  /** A worker may leave it alone: what it is for is not configured there. */
  readonly optional?: true;
  /** Bounds one attempt; absent where the processor bounds it itself. */
  readonly timeoutMs?: number;
}

const queue = <P extends TSchema>(def: QueueDef<P>): QueueDef<P> => def;

/** Makes of a mapped hook's run what its mapping and its transform say. */
export const mappedHook = queue({
  name: "mapped-hook",
  payload: Type.Object({ runId: Type.String() }),
  attempts: 5,
});

/** One agent turn for a hook's run. The run's record says how often it may be tried, so the queue tries once. */
export const agentHook = queue({
  name: "agent-hook",
  payload: Type.Object({ runId: Type.String() }),
  attempts: 1,
});

/** A turn of the main session over the events that wait. */
export const heartbeat = queue({
  name: "heartbeat",
  payload: Type.Object({ scheduled: Type.Boolean() }),
  attempts: 1,
});

/**
 * Sends replies to a channel; each has a queue of its own, so that one that is slow or limited holds up no other. The
 * record says how often a delivery may be tried, so the queue tries once.
 */
const deliveryQueue = (channel: string) =>
  queue({
    name: `delivery-${channel}`,
    payload: Type.Object({ deliveryId: Type.String() }),
    attempts: 1,
    optional: true,
  });

const DELIVERIES = new Map(CHANNELS.map((channel) => [channel as string, deliveryQueue(channel)]));

/** The queue of a channel. @throws Error when there is no such channel */
export function deliveriesTo(channel: string): ReturnType<typeof deliveryQueue> {
  const found = DELIVERIES.get(channel);
  if (!found) throw new Error(`there is no channel ${channel}`);
  return found;
}

/** Deletes ended jobs that are older than the configuration keeps them, and what deletions left behind. */
export const retention = queue({
  name: "retention",
  payload: Type.Object({}),
  attempts: 1,
  timeoutMs: 10 * 60_000,
});

export const QUEUES: readonly QueueDef[] = [mappedHook, agentHook, heartbeat, ...DELIVERIES.values(), retention];

/** What the keys of a queue begin with: the braces keep one queue's keys on one node of a Redis Cluster. */
export const queuePrefix = (prefix: string, name: string): string => `{${prefix}:${name}}`;
