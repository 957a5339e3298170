import Type, { type TSchema } from "typebox";
import { CHANNELS } from "../channelNames.ts";

/** The contract of one queue between producers and workers. `attempts` includes the first try. */
export interface QueueDef<P extends TSchema = TSchema> {
  readonly name: string;
  readonly payload: P;
  readonly attempts: number;
  /** True when a worker needs no processor for the queue, because its channel may not be configured. */
  readonly optional?: true;
  /** Time limit of one try; absent when the processor sets its own. */
  readonly timeoutMs?: number;
}

const queue = <P extends TSchema>(def: QueueDef<P>): QueueDef<P> => def;

/** Applies a mapping and its transform to the run of a mapped hook. */
export const mappedHook = queue({
  name: "mapped-hook",
  payload: Type.Object({ runId: Type.String() }),
  attempts: 5,
});

/** Runs one agent turn for the run of a hook. The run's record limits its tries, so the queue tries once. */
export const agentHook = queue({
  name: "agent-hook",
  payload: Type.Object({ runId: Type.String() }),
  attempts: 1,
});

/** Runs a turn of the main session over the waiting events. */
export const heartbeat = queue({
  name: "heartbeat",
  payload: Type.Object({ scheduled: Type.Boolean() }),
  attempts: 1,
});

/**
 * Sends replies to a channel. Each channel has its own queue, so that a slow or limited one does not delay the others. The
 * delivery's record limits its tries, so the queue tries once.
 */
const deliveryQueue = (channel: string) =>
  queue({
    name: `delivery-${channel}`,
    payload: Type.Object({ deliveryId: Type.String() }),
    attempts: 1,
    optional: true,
  });

/** The name that the deliveries of webhooks have in place of a channel. */
const WEBHOOK = "webhook";

const DELIVERIES = new Map([...CHANNELS, WEBHOOK].map((channel) => [channel as string, deliveryQueue(channel)]));

/** Returns the queue of a channel. @throws Error when there is no such channel */
export function deliveriesTo(channel: string): ReturnType<typeof deliveryQueue> {
  const found = DELIVERIES.get(channel);
  if (!found) throw new Error(`there is no channel ${channel}`);
  return found;
}

/** Checks the credentials of a channel. A request waits for the result, so that nothing else stores it. */
export const channelCheck = queue({
  name: "channel-check",
  payload: Type.Object({ channel: Type.String() }),
  attempts: 1,
  timeoutMs: 10_000,
});

/** Turns all noted events into deliveries. The scan triggers it again while events are left, so the queue tries once. */
export const notify = queue({
  name: "notify",
  payload: Type.Object({}),
  attempts: 1,
});

/** Handles what people have done in chats. It is triggered again while updates are left, so the queue tries once. */
export const chat = queue({
  name: "chat",
  payload: Type.Object({}),
  attempts: 1,
});

/** Deletes ended records after their retention time, and whatever earlier deletions left behind. */
export const retention = queue({
  name: "retention",
  payload: Type.Object({}),
  attempts: 1,
  timeoutMs: 10 * 60_000,
});

export const QUEUES: readonly QueueDef[] = [
  mappedHook,
  agentHook,
  heartbeat,
  notify,
  chat,
  ...DELIVERIES.values(),
  channelCheck,
  retention,
];

/** Returns the prefix of a queue's keys. The braces keep the keys of one queue on one node of a Redis Cluster. */
export const queuePrefix = (prefix: string, name: string): string => `{${prefix}:${name}}`;
