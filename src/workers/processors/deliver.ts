import { randomUUID } from "node:crypto";
import { acquireDelivery } from "../../models/deliveries/acquireDelivery.ts";
import type { DeliveryDoc } from "../../models/deliveries/delivery.ts";
import { withLease } from "../../shared/lease.ts";
import { ChannelGate } from "../deliveries/channelGate.ts";
import { Sending, type SendingDeps, type Verdict } from "../deliveries/sending.ts";
import type { Processor, RunContext } from "../run.ts";
import { persist } from "../runs/persist.ts";

export interface DeliverDeps extends SendingDeps {
  /** Whether a reply that was sent moves the main session's route to its recipient. */
  readonly followDeliveries: boolean;
  /** Puts a delivery on the queue again; `occasion` tells one time from another. */
  requeue(deliveryId: string, occasion: string, delayMs: number): Promise<void>;
}

/** Sends the replies for one channel: part by part, from the first that was not sent. */
export function deliverProcessor(deps: DeliverDeps, gate = new ChannelGate()): Processor {
  return async ({ payload }, context) => {
    const { deliveryId } = payload as { deliveryId: string };
    const { deliveries } = deps.stores;
    const token = randomUUID();
    const { lease } = context.timings;
    const now = context.clock.now();
    const leaseEnd = new Date(now.getTime() + lease.durationMs);
    const delivery = await acquireDelivery(deps.stores, deliveryId, token, leaseEnd, now);
    if (typeof delivery === "string") return { kind: "done", result: { delivery } };
    const claim = {
      renew: (until: Date) => deliveries.renew(deliveryId, token, until),
      now: () => context.clock.now(),
    };
    const verdict = await withLease(claim, lease, (lost) => {
      const signal = AbortSignal.any([lost, context.signal]);
      return new Sending(deps, gate, delivery, token, context, signal).run();
    });
    await conclude(deps, delivery, token, verdict, context);
    return { kind: "done", result: { delivery: verdict.kind } };
  };
}

/** Writes down what became of a try; of a delivery that is no longer this worker's nothing. */
async function conclude(
  { stores, name, metrics, requeue, followDeliveries }: DeliverDeps,
  { _id, lane, channel, to }: DeliveryDoc,
  token: string,
  verdict: Verdict,
  context: RunContext,
): Promise<void> {
  const { clock, log } = context;
  const { deliveries, sessions } = stores;
  const kept = <T>(act: () => Promise<T>) => persist(act, context);
  if (verdict.kind === "lost") return;
  if (verdict.kind === "stopped") {
    await kept(() => deliveries.retryLater(_id, token, null));
    return requeue(_id, token, 0);
  }
  if (verdict.kind === "later") {
    const notBefore = new Date(clock.now().getTime() + verdict.afterMs);
    await kept(() => deliveries.retryLater(_id, token, notBefore, verdict.change));
    return requeue(_id, `at-${notBefore.getTime()}`, verdict.afterMs);
  }
  const isSent = verdict.kind === "sent";
  const reason = "reason" in verdict ? verdict.reason : null;
  const isOurs = await kept(() => deliveries.end(_id, token, isSent ? "sent" : "failed", reason));
  if (!isOurs) return;
  if (isSent && to !== null && followDeliveries) await kept(() => sessions.setRoute({ channel, to }));
  if (reason !== null) {
    // what waits for somebody who cannot be reached would be refused too, one after the other
    const others = verdict.kind === "gone" ? await kept(() => deliveries.failLane(lane, reason)) : 0;
    log.warn({ deliveryId: _id, channel, reason, others }, "a delivery has failed");
    metrics.deliveries.inc({ channel: name, outcome: "failed" }, others);
  }
  metrics.deliveries.inc({ channel: name, outcome: isSent ? "sent" : "failed" });
  const next = await kept(() => deliveries.findNext(lane));
  if (next) await requeue(next._id, `after-${_id}`, 0);
}
