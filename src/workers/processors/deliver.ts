import { randomUUID } from "node:crypto";
import { acquireDelivery, type DeliveryNotAcquired } from "../../models/deliveries/acquireDelivery.ts";
import { type DeliveryDoc, isAskedFor, isTest, priorityOf } from "../../models/deliveries/delivery.ts";
import { withLease } from "../../shared/lease.ts";
import type { AttemptOutcome } from "../deliveries/attemptOutcome.ts";
import { ChannelLimiter } from "../deliveries/channelLimiter.ts";
import { DeliveryAttempt, type DeliveryAttemptDeps } from "../deliveries/deliveryAttempt.ts";
import { type Exchange, ReceiverLimiter } from "../deliveries/receiverLimiter.ts";
import { endedMessageChannel } from "../live/endedMessage.ts";
import type { ProcessorOutcome } from "../outcome.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

export interface DeliverDeps extends DeliveryAttemptDeps {
  /** Whether a sent reply makes its recipient the reply target of the main session. */
  readonly followDeliveries: boolean;
  /** Enqueues a delivery again. `occasion` makes the id of this queue entry unique. */
  requeue(deliveryId: string, occasion: string, delayMs: number, priority: number): Promise<void>;
}

interface Limiters {
  readonly channel: ChannelLimiter;
  /** Limits the concurrent messages to each recipient, so that one that hangs leaves the process free for the others. */
  readonly receivers: ReceiverLimiter;
}

/** Returns the processor that delivers the messages of one channel, part by part, from the first that was not sent. */
export function deliverProcessor(
  deps: DeliverDeps,
  { channel, receivers }: Limiters = { channel: new ChannelLimiter(), receivers: new ReceiverLimiter() },
): Processor {
  return async ({ payload }, context) => {
    const { deliveryId } = payload as { deliveryId: string };
    const [waiting] = await deps.stores.deliveries.findMany([deliveryId]);
    if (!waiting || isAskedFor(waiting)) return doneWith(await deliver(deps, channel, deliveryId, context));
    const receiver = receiverOf(waiting);
    const permission = receivers.acquire(receiver);
    if (permission.kind === "refused") return { kind: "delay", ms: Math.ceil(permission.forMs) };
    let exchange: Exchange | undefined;
    try {
      const began = performance.now();
      const outcome = await deliver(deps, channel, deliveryId, context);
      if (typeof outcome !== "string") {
        const restMs = outcome.kind === "delay" ? outcome.recipientRestsMs : undefined;
        exchange = { isAnswered: true, durationMs: performance.now() - began, restMs };
      }
      return doneWith(outcome);
    } finally {
      receivers.release(receiver, exchange);
    }
  };
}

const doneWith = (outcome: AttemptOutcome | DeliveryNotAcquired): ProcessorOutcome => ({
  kind: "done",
  result: { delivery: typeof outcome === "string" ? outcome : outcome.kind },
});

/** Returns the name of a receiver. Alerts, questions to people and replies have permits of their own, so that none delays others. */
const receiverOf = ({ to, event }: Pick<DeliveryDoc, "to" | "event">): string =>
  `${event === undefined ? "reply" : priorityOf({ event })} ${to}`;

async function deliver(
  deps: DeliverDeps,
  limiter: ChannelLimiter,
  deliveryId: string,
  context: RunContext,
): Promise<AttemptOutcome | DeliveryNotAcquired> {
  const { deliveries } = deps.stores;
  const token = randomUUID();
  const timings = context.timings.lease;
  const now = context.clock.now();
  const leaseEnd = new Date(now.getTime() + timings.durationMs);
  const delivery = await acquireDelivery(deps.stores, deliveryId, token, leaseEnd, now);
  if (typeof delivery === "string") return delivery;
  const lease = {
    renew: (until: Date) => deliveries.renew(deliveryId, token, until),
    now: () => context.clock.now(),
  };
  const { live, event } = delivery;
  const channel =
    live === undefined || !event
      ? deps.channel
      : endedMessageChannel(deps.channel, { stores: deps.stores, clock: context.clock }, { live, by: event.id });
  const outcome = await withLease(lease, timings, (lost) => {
    const signal = AbortSignal.any([lost, context.signal]);
    return new DeliveryAttempt({ ...deps, channel }, limiter, delivery, token, context, signal).run();
  });
  await storeOutcome(deps, delivery, token, outcome, context);
  return outcome;
}

/** Stores how an attempt ended and enqueues what follows. Writes nothing when the lease is lost. */
async function storeOutcome(
  { stores, name, metrics, requeue, followDeliveries }: DeliverDeps,
  delivery: DeliveryDoc,
  token: string,
  outcome: AttemptOutcome,
  context: RunContext,
): Promise<void> {
  const { _id, lane, channel, to } = delivery;
  const { clock, log } = context;
  const { deliveries, sessions } = stores;
  const withRetry = <T>(write: () => Promise<T>) => retryWhileMongoIsDown(write, context);
  if (outcome.kind === "lost") return;
  if (outcome.kind === "stopped") {
    await withRetry(() => deliveries.retryLater(_id, token, null));
    return requeue(_id, token, 0, priorityOf(delivery));
  }
  if (outcome.kind === "delay") {
    const notBefore = new Date(clock.now().getTime() + outcome.afterMs);
    await withRetry(() => deliveries.retryLater(_id, token, notBefore, outcome.change));
    return requeue(_id, `at-${notBefore.getTime()}`, outcome.afterMs, priorityOf(delivery));
  }
  const isSent = outcome.kind === "sent";
  const reason = "reason" in outcome ? outcome.reason : null;
  const isOurs = await withRetry(() => deliveries.end(_id, token, isSent ? "sent" : "failed", reason));
  if (!isOurs) return;
  if (isSent && to !== null && followDeliveries && !isTest(delivery))
    await withRetry(() => sessions.setReplyTarget({ channel, to }));
  if (reason !== null) {
    // The other deliveries to an unreachable recipient would be refused too, one after another.
    const others = outcome.kind === "gone" ? await withRetry(() => deliveries.failAllTo(delivery, reason)) : 0;
    log.warn({ deliveryId: _id, channel, reason, others }, "a delivery failed");
    metrics.deliveries.inc({ channel: name, outcome: "failed" }, others);
  }
  metrics.deliveries.inc({ channel: name, outcome: isSent ? "sent" : "failed" });
  const next = await withRetry(() => deliveries.findNext(lane));
  if (next) await requeue(next._id, `after-${_id}`, 0, 0);
}
