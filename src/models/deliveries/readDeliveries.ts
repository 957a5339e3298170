import type { mongo } from "mongoose";
import type { Delivery } from "../../wire/delivery.ts";
import { readNewest } from "../db/newestFirst.ts";
import type { ReplyTarget } from "../sessions/session.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  AS_READ,
  type DeliveryDoc,
  type DeliveryKind,
  type DeliveryState,
  kindOf,
  OTHER_CHANNELS,
  type ReadDelivery,
} from "./delivery.ts";

export interface DeliveryFilter {
  readonly state?: readonly DeliveryState[] | undefined;
  readonly channel?: string | undefined;
  readonly kind?: DeliveryKind | undefined;
  /** The id of a rule. */
  readonly rule?: string | undefined;
}

export interface DeliveryListQuery extends DeliveryFilter {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Returns the query of the deliveries that match all given filters. */
export function deliveryQuery({ state, channel, kind, rule }: DeliveryFilter): mongo.Filter<DeliveryDoc> {
  return {
    ...(state && { state: { $in: [...state] } }),
    ...(channel !== undefined && { channel }),
    ...(kind !== undefined && { kind: kind === "channel" ? { $nin: [...OTHER_CHANNELS] } : kind }),
    ...(rule !== undefined && { "event.rule": rule }),
  };
}

/** Returns a page of deliveries, the newest first. */
export async function listDeliveries(
  { deliveries }: { readonly deliveries: Deliveries },
  { limit, cursor, ...filter }: DeliveryListQuery,
): Promise<{ deliveries: Delivery[]; nextCursor: string | null }> {
  const { rows, nextCursor } = await readNewest(deliveries.collection, {
    query: deliveryQuery(filter),
    projection: AS_READ,
    limit,
    cursor,
    bytesOf: ({ parts }) => parts.length * 100,
  });
  return { deliveries: rows.map(viewDelivery), nextCursor };
}

/** Returns a delivery as clients read it. */
export function viewDelivery(delivery: ReadDelivery): Delivery {
  const { _id, runId, event, channel, to, state, attempts, lastStatus, parts } = delivery;
  const { maybeTwice, reason, notBefore, createdAt, sentAt } = delivery;
  return {
    deliveryId: _id,
    runId,
    channel,
    to,
    state,
    attempts,
    maybeTwice,
    reason,
    kind: kindOf(delivery),
    preview: previewOf(delivery),
    rule: event?.rule ?? null,
    eventType: event?.type ?? null,
    lastStatus: lastStatus ?? null,
    parts: parts.map((part) => ({ state: part.state, id: part.id })),
    notBefore: notBefore?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    sentAt: sentAt?.toISOString() ?? null,
  };
}

/** Maximum characters of a preview: those that fit into a row. */
const PREVIEW_CHARS = 120;

/** Returns the first words of a text on one line; null if there are none. */
function previewOf({ text, title = "", event }: ReadDelivery): string | null {
  // The text of a question has the link that answers it without a log-in.
  const words = event?.type === "gate.opened" ? title : text;
  const line = words
    .slice(0, 4 * PREVIEW_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= PREVIEW_CHARS) return line || null;
  return `${line.slice(0, PREVIEW_CHARS).toWellFormed()}…`;
}

/** Returns the ids of those deliveries that go to a recipient and have not failed. */
export async function findSentTo(
  { collection }: Pick<Deliveries, "collection">,
  { channel, to }: ReplyTarget,
  deliveryIds: readonly string[],
): Promise<string[]> {
  const query = { _id: { $in: [...deliveryIds] }, channel, to, state: { $ne: "failed" as const } };
  const found = await collection.find<Pick<DeliveryDoc, "_id">>(query, { projection: { _id: 1 } });
  return found.map(({ _id }) => _id);
}
