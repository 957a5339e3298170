import type { mongo } from "mongoose";
import { RETURN_EVENTS, type ReturnEvent } from "../../wire/runs/return.ts";
import * as f from "../db/fields.ts";

/** The session that a job wakes. */
export const ReturnTo = f.object({
  sessionKey: f.string,
  on: f.listOf(f.oneOf(RETURN_EVENTS)),
  deliver: f.boolean,
  channel: f.string,
  to: f.nullable(f.string),
  /** The number of returns in a row that have led to this job; missing for 0. */
  chain: f.optional(f.number),
  /** The depth of the events that follow (`notes/depth.ts`); missing for 0. */
  depth: f.optional(f.number),
});
export type ReturnTo = f.Stored<typeof ReturnTo>;

/** Returns the condition for a job that wakes a session at a transition. */
export const wakesOn = (event: ReturnEvent): mongo.Document => ({ $in: [event, { $ifNull: ["$returnTo.on", []] }] });

/** Returns the fields of a note with which a transition wakes the session of the job; none if the job wakes no session. */
export const returnFields = (event: ReturnEvent): mongo.Document => ({
  returnTo: { $cond: [wakesOn(event), "$returnTo", "$$REMOVE"] },
});
