import type { mongo } from "mongoose";
import { RETURN_EVENTS, type ReturnEvent } from "../../wire/return.ts";
import { boolean, listOf, nullable, number, object, oneOf, optional, type Stored, string } from "../db/fields.ts";

/** The session that a job wakes. */
export const ReturnTo = object({
  sessionKey: string,
  on: listOf(oneOf(RETURN_EVENTS)),
  deliver: boolean,
  channel: string,
  to: nullable(string),
  /** The number of returns in a row that have led to this job; missing for 0. */
  chain: optional(number),
  /** The depth of the events that follow (`notes/depth.ts`); missing for 0. */
  depth: optional(number),
});
export type ReturnTo = Stored<typeof ReturnTo>;

/** Returns the condition for a job that wakes a session at a transition. */
export const wakesOn = (event: ReturnEvent): mongo.Document => ({ $in: [event, { $ifNull: ["$returnTo.on", []] }] });

/** Returns the fields of a note with which a transition wakes the session of the job; none if the job wakes no session. */
export const returnFields = (event: ReturnEvent): mongo.Document => ({
  returnTo: { $cond: [wakesOn(event), "$returnTo", "$$REMOVE"] },
});
