import type { DeliveryChange } from "../../models/deliveries/delivery.ts";

/**
 * How an attempt ended:
 *
 * - `sent`: every part was sent.
 * - `failed`: the delivery will not be tried again.
 * - `gone`: as `failed`, because the recipient cannot be reached at all.
 * - `delay`: the delivery is tried again after `afterMs`, with `change` written to its record. `recipientRestsMs` is set if the
 *   service limits the rate of messages to the recipient.
 * - `stopped`: the process stops, and another worker continues the delivery.
 * - `lost`: the lease was lost or the delivery was cancelled, so that this worker must not write to it any more.
 */
export type AttemptOutcome =
  | { readonly kind: "sent" | "stopped" | "lost" }
  | { readonly kind: "failed" | "gone"; readonly reason: string }
  | {
      readonly kind: "delay";
      readonly afterMs: number;
      readonly change: DeliveryChange;
      readonly recipientRestsMs?: number;
    };

/** Returns the type of an error and its stack frames, without its message, which may quote the reply. */
export function locationOf(thrown: unknown): { name: string; at: string[] } {
  if (!(thrown instanceof Error)) return { name: typeof thrown, at: [] };
  const { name, message, stack = "" } = thrown;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  return { name, at: frames.map((frame) => frame.trim()).filter(Boolean) };
}
