import type { Stores } from "../../models/stores.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Processor } from "../run.ts";

/**
 * Sends a reply to its channel. The one channel so far is `log`, for development: it notes in the log that a delivery
 * was made, to whom, and how long it was. A channel that is not configured, or an unknown recipient, is a failed delivery.
 */
export function deliverProcessor(
  stores: Stores,
  channels: Readonly<Record<string, unknown>>,
  metrics: WorkerMetrics,
): Processor {
  return async ({ payload }, { log }) => {
    const { deliveryId } = payload as { deliveryId: string };
    const delivery = await stores.deliveries.find(deliveryId);
    if (delivery?.state !== "pending") return { kind: "done", result: { delivery: "over" } };
    const { channel, to, text } = delivery;
    const fault = faultOf(channel, to, channels);
    if (fault !== null || to === null) {
      metrics.deliveries.inc({ channel, outcome: "failed" });
      await stores.deliveries.markFailed(deliveryId, fault ?? "");
      return { kind: "done", result: { delivery: "failed" } };
    }
    log.info({ deliveryId, channel, to, chars: text.length }, "delivered to the log");
    metrics.deliveries.inc({ channel, outcome: "sent" });
    await stores.sessions.setRoute({ channel, to });
    await stores.deliveries.markSent(deliveryId);
    return { kind: "done", result: { delivery: "sent" } };
  };
}

function faultOf(channel: string, to: string | null, channels: Readonly<Record<string, unknown>>): string | null {
  if (!(channel in channels)) return `The channel ${channel} is not configured: add channels.${channel}.`;
  if (to === null) return "No recipient is known: give `to`, or set the main session's route.";
  return null;
}
