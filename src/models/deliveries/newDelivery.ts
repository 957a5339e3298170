import { mongo } from "mongoose";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { depthField } from "../notes/depth.ts";
import type { DeliveredEvent, DeliveryDoc, DeliveryKind, NewDelivery } from "./delivery.ts";
import { failureNoteOf } from "./failureNote.ts";

/**
 * Returns the document of a new delivery. One with a fault has failed, and one of the kind `wake` is sent.
 * @param notesFailure whether the failure is noted
 */
export function newDeliveryDoc(
  { fault, depth, ...delivery }: NewDelivery,
  createdAt: Date,
  { notesFailure }: { notesFailure: boolean },
): DeliveryDoc {
  const state = fault !== null ? "failed" : delivery.kind === "wake" ? "sent" : "pending";
  const open = state === "pending";
  const doc: DeliveryDoc = {
    ...delivery,
    ...depthField(depth),
    lane: laneOf(delivery),
    parts: [],
    open,
    state,
    reason: fault,
    attempts: 0,
    failures: 0,
    limits: 0,
    maybeTwice: false,
    notBefore: null,
    lease: null,
    createdAt,
    since: createdAt,
    sentAt: state === "sent" ? createdAt : null,
    endedAt: open ? null : createdAt,
    order: new mongo.Timestamp({ t: 0, i: 0 }),
  };
  const note = state === "failed" && notesFailure ? failureNoteOf(doc, createdAt) : undefined;
  return note ? { ...doc, notes: [note] } : doc;
}

type LaneFields = Pick<DeliveryDoc, "_id" | "channel" | "to"> & {
  readonly kind?: DeliveryKind | undefined;
  readonly event?: DeliveredEvent | undefined;
  readonly sessionKey?: string | undefined;
};

/**
 * Returns the lane of a delivery. Only the replies of one session to one recipient wait for one another. Each event and each test
 * has a lane of its own, so that a message that fails delays no other.
 */
export const laneOf = ({ _id, kind, channel, to, event, sessionKey = MAIN_SESSION }: LaneFields): string =>
  event ? `${kind === "webhook" ? "webhook" : "event"} ${_id}` : `reply ${channel} ${to} ${sessionKey}`;
