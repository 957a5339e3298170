import { MAX_DEPTH } from "../notes/depth.ts";
import { appendNotes, type Note } from "../notes/note.ts";
import type { DeliveryDoc } from "./delivery.ts";

/**
 * The id of the event that a delivery has failed. It is derived from the delivery and its last retry by hand, because one update
 * may fail many deliveries.
 */
const idOf = (deliveryId: string, since: Date) => `failed-${deliveryId.replaceAll(".", "-")}-${since.getTime()}`;

/**
 * Returns the note of a delivery that failed when it was created; undefined if it carries a failed delivery itself, or an event
 * that is too deep to be sent.
 */
export function failureNoteOf({ _id, since, event, depth = 0, reason }: DeliveryDoc, at: Date): Note | undefined {
  if (event?.type === "delivery.failed" || (event && depth >= MAX_DEPTH)) return undefined;
  return { id: idOf(_id, since), type: "delivery.failed", at, was: { state: "failed", reason } };
}

/** Returns the expression for the notes of a delivery that fails. An alert about a failed alert would never end. */
export function failureNote(reason: string, at: Date): object {
  const deliveryId = { $replaceAll: { input: "$_id", find: ".", replacement: "-" } };
  const id = { $concat: ["failed-", deliveryId, "-", { $toString: { $toLong: "$since" } }] };
  const note = { id, type: "delivery.failed", at, was: { state: "failed", reason: { $literal: reason } } };
  return { $cond: [{ $eq: ["$event.type", "delivery.failed"] }, "$notes", appendNotes([note])] };
}
