import type { mongo } from "mongoose";
import * as f from "../db/fields.ts";
import { appendNotes } from "../notes/note.ts";
import { returnFields, wakesOn } from "../notes/returnTo.ts";
import type { WantedNotifications } from "../notes/wantedNotifications.ts";
import type { StepDoc } from "./step.ts";

/** The final status of a job. */
type EndStatus = Exclude<StepDoc["status"], "running">;

/** The announcement of a running job as stale. It ends with the next report. */
export const Silence = f.object({
  /** The id of the notification that announced it. */
  id: f.string,
  /** The last report before the silence, or the creation of the job. The job is announced once for each. */
  since: f.date,
  /** The rules that have announced it; missing until the notification was dispatched. */
  rules: f.optional(f.listOf(f.string)),
});
export type Silence = f.Stored<typeof Silence>;

/** An update of a job that may have notifications. */
export interface JobTransition {
  /** The id of the update: that of its report, or a new one. Ids of notifications begin with it. */
  readonly id: mongo.ObjectId;
  /** The status to which the update may end the job. It must set `endedBy` by `endedBy`. */
  readonly ends?: EndStatus | undefined;
  /** The expression for why the job ends, such as the reason of a cancellation. */
  readonly reason?: object | undefined;
  /** Whether the update is a report, which ends a silence. */
  readonly isReport: boolean;
}

/** Maximum characters of a message in a note, so that all notes of a job take far less than a MiB. */
const MESSAGE_CHARS = 4_000;

/** The fields of a job that later updates change, as expressions. */
export const WAS = {
  status: "$status",
  progress: "$progress",
  message: { $cond: [{ $gt: ["$message", null] }, { $substrCP: ["$message", 0, MESSAGE_CHARS] }, null] },
  updatedAt: "$updatedAt",
  lastReportAt: "$lastReportAt",
  staleAt: "$staleAt",
};

/** The expression for the beginning of the job's run: its creation, or when it was last started again. */
const STARTED_AT = { $ifNull: ["$startedAt", "$createdAt"] };

/** Returns the field that names the update which brought a job to its final status. Belongs to the stage that sets the status. */
export const endedBy = (status: EndStatus, id: mongo.ObjectId): mongo.Document => ({
  endedBy: { $cond: [{ $eq: ["$status", status] }, "$endedBy", id] },
});

/**
 * Returns the fields of the last stage of an update of a job that add the notes of a transition: for the rules, for the
 * `callbackUrl` of the job, and for the session that it wakes.
 */
export function noteFields(transition: JobTransition, wanted: WantedNotifications, now: Date): mongo.Document {
  const endsSilence = transition.isReport && wanted.types.has("job.recovered");
  const notes = [
    ...(endsSilence ? [recovered(transition, now)] : []),
    ...(transition.ends ? ended(transition, transition.ends, wanted, now) : []),
  ];
  const [first] = notes;
  if (!first) return {};
  const added = appendNotes(
    ...notes.map(({ when, note }) => (notes.length > 1 ? { $cond: [when, [note], []] } : [note])),
  );
  const isEvent = notes.length > 1 ? { $or: notes.map(({ when }) => when) } : first.when;
  return { notes: { $cond: [isEvent, added, "$notes"] }, ...(endsSilence && { silence: "$$REMOVE" }) };
}

interface ConditionalNote {
  readonly when: object;
  readonly note: object;
}

function recovered({ id }: JobTransition, now: Date): ConditionalNote {
  const note = { id: `${id.toHexString()}-recovered`, type: "job.recovered", at: now };
  // Missing rules leave the field out. What the job was is not kept, because every report pays for the expression.
  return { when: { $gt: ["$silence", null] }, note: { ...note, stale: "$silence.id", rules: "$silence.rules" } };
}

function ended(
  { id, reason }: JobTransition,
  status: EndStatus,
  { types, callbacks, traces }: WantedNotifications,
  now: Date,
): ConditionalNote[] {
  const type = `job.${status}` as const;
  const isEnd = { $eq: ["$endedBy", id] };
  const isWanted = { $or: [wakesOn(status), ...(callbacks ? [{ $gt: ["$callbackUrl", null] }] : [])] };
  const when = types.has(type) || traces ? isEnd : { $and: [isEnd, isWanted] };
  const was = traces ? { ...WAS, startedAt: STARTED_AT } : WAS;
  const note = { id: id.toHexString(), type, at: now, was, ...returnFields(status), ...(reason && { reason }) };
  return [{ when, note }];
}
