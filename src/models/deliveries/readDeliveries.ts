import type { mongo } from "mongoose";
import { idCursor, olderThan } from "../db/idCursor.ts";
import { readPage } from "../db/page.ts";
import type { Deliveries } from "./deliveries.ts";
import { type DeliveryDoc, type DeliveryPart, type DeliveryState, WITHOUT_TEXT } from "./delivery.ts";

/** A delivery as clients read it, without its text. Times are ISO 8601 UTC with milliseconds. */
export interface DeliveryView {
  deliveryId: string;
  runId: string | null;
  channel: string;
  to: string | null;
  state: DeliveryState;
  attempts: number;
  parts: Pick<DeliveryPart, "state" | "id">[];
  maybeTwice: boolean;
  reason: string | null;
  notBefore: string | null;
  createdAt: string;
  sentAt: string | null;
}

export interface DeliveryListQuery {
  readonly state?: readonly DeliveryState[] | undefined;
  readonly channel?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Returns a page of deliveries, the newest first. @throws AppError unavailable */
export async function listDeliveries(
  { deliveries }: { readonly deliveries: Deliveries },
  { state, channel, limit, cursor }: DeliveryListQuery,
): Promise<{ deliveries: DeliveryView[]; nextCursor: string | null }> {
  const query: mongo.Filter<DeliveryDoc> = {
    ...(state && { state: { $in: [...state] } }),
    ...(channel !== undefined && { channel }),
    ...(cursor !== undefined && olderThan<DeliveryDoc>(cursor)),
  };
  const find = () =>
    deliveries.collection.find<DeliveryDoc>(query, { projection: WITHOUT_TEXT }).sort({ createdAt: -1, _id: -1 });
  const { rows, last } = await readPage(deliveries.collection, find, {
    limit,
    bytesOf: ({ parts }) => parts.length * 100,
  });
  return { deliveries: rows.map(viewDelivery), nextCursor: last && idCursor(last) };
}

/** Returns a delivery as clients read it. */
export function viewDelivery(delivery: DeliveryDoc): DeliveryView {
  const { _id, runId, channel, to, state, attempts, parts, maybeTwice, reason, notBefore, createdAt, sentAt } =
    delivery;
  return {
    ...{ deliveryId: _id, runId, channel, to, state, attempts, maybeTwice, reason },
    parts: parts.map((part) => ({ state: part.state, id: part.id })),
    notBefore: notBefore?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    sentAt: sentAt?.toISOString() ?? null,
  };
}
