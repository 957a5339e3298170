import type { Delivery } from "../../../client/client.ts";

type Row = Pick<Delivery, "deliveryId" | "kind" | "channel" | "to" | "state" | "notBefore" | "parts">;

/** Why a pending delivery is not sent: a pause until its next attempt, another one to the same recipient, or nothing. */
export type WaitsFor =
  | { readonly kind: "attempt"; readonly at: string }
  | { readonly kind: "another" | "sending" | "worker" };

/** The ids of the deliveries that are sent first, by their recipient. */
export type FirstPending = ReadonlyMap<string, string>;

const recipientOf = ({ channel, to }: Row): string => `${channel} ${to}`;

/**
 * Returns which delivery to each recipient is sent first.
 * @param rows the newest first
 */
export function firstPending(rows: readonly Row[]): FirstPending {
  const first = new Map<string, string>();
  for (const row of rows) if (row.state === "pending") first.set(recipientOf(row), row.deliveryId);
  return first;
}

/** Returns what a delivery waits for; null if it is not pending. */
export function waitsFor(row: Row, first: FirstPending, now: number): WaitsFor | null {
  if (row.state !== "pending") return null;
  if (row.notBefore && Date.parse(row.notBefore) > now) return { kind: "attempt", at: row.notBefore };
  if (row.parts.some(({ state }) => state === "sending")) return { kind: "sending" };
  // Webhooks are sent in any order.
  if (row.kind !== "webhook" && first.get(recipientOf(row)) !== row.deliveryId) return { kind: "another" };
  return { kind: "worker" };
}
