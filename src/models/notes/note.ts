import { mongo } from "mongoose";
import { ANY_NOTIFICATION_TYPES } from "../../shared/notifications/catalogue.ts";
import * as f from "../db/fields.ts";
import { ReturnTo } from "./returnTo.ts";

/**
 * A notification that is not dispatched yet: a change of state of the record that it is stored in. The update that makes the
 * transition also adds the note, so that neither exists without the other. A worker turns the note into deliveries and removes
 * it.
 */
export const Note = f.object({
  /** The id of the notification: constant over every repetition, and without a dot, which Standard Webhooks does not permit. */
  id: f.string,
  type: f.oneOf(ANY_NOTIFICATION_TYPES),
  at: f.date,
  /** Fields of the record at that moment, in place of those that it has when the note is read. */
  was: f.optional(f.free<Readonly<Record<string, unknown>>>()),
  /** Why it happened, if the transition has a reason. */
  reason: f.optional(f.string),
  /** For `job.recovered`: the id of the notification that announced the job as stale. */
  stale: f.optional(f.string),
  /**
   * For `job.recovered`: the rules that have announced the job as stale; missing until that notification was dispatched. For
   * `job.slow`: the rules for which the job is slow now.
   */
  rules: f.optional(f.listOf(f.string)),
  /** For `job.slow`: how long the job has run, without waiting for gates. */
  elapsedMs: f.optional(f.number),
  /** For notifications of gates: the gate as clients read it. */
  gate: f.optional(f.free<Readonly<Record<string, unknown>>>()),
  /** For `budget.reached`: the budget. */
  budget: f.optional(f.object({ id: f.string, per: f.string, used: f.string })),
  /** The session that the transition wakes, as the job named it then; missing if it wakes none. */
  returnTo: f.optional(ReturnTo),
  /** The number of notifications just before this one that were dropped, because too many waited. */
  dropped: f.optional(f.number),
  /** The number of failed tries to dispatch it, and the time of the last one; missing before the first. */
  tries: f.optional(f.number),
  triedAt: f.optional(f.date),
});
export type Note = f.Stored<typeof Note>;

/** The field of a record that holds its notes; missing while it has none. */
export const Notes = f.optional(f.listOf(Note));

/** The index that finds the records with notes, the oldest first. It contains no other records. */
export const NOTED_INDEX = {
  keys: { "notes.at": 1 },
  options: { partialFilterExpression: { "notes.at": { $exists: true } } },
} as const;

/** Triggers the dispatch of new notes. */
export interface NoteNotifier {
  /** Never throws and never waits, because the scan triggers it again. */
  noted(): void;
}

export const NO_NOTES: NoteNotifier = { noted: () => {} };

/** Returns a new id for a notification. */
export const newNoteId = (): string => new mongo.ObjectId().toHexString();

/**
 * Maximum notes of one record, so that notifications which nobody dispatches never fill its document. Those in the middle are
 * dropped: the oldest say when it began, the newest how it is.
 */
const MAX_NOTES = 50;
/** The oldest notes that are kept. */
const KEPT_OLDEST = 25;

/**
 * Returns the expression that appends notes. The note behind those that it drops counts them:
 * `[n1 … n25, {...n27, dropped: 1}, n28 … n51]`.
 */
export function appendNotes(...notes: readonly unknown[]): mongo.Document {
  const all = { $concatArrays: [{ $ifNull: ["$notes", []] }, ...notes] };
  const dropped = { $slice: ["$$all", KEPT_OLDEST, { $add: ["$$excess", 1] }] };
  const counts = { $map: { input: dropped, in: { $ifNull: ["$$this.dropped", 0] } } };
  const next = [
    { $arrayElemAt: ["$$all", { $add: ["$$excess", KEPT_OLDEST] }] },
    { dropped: { $add: ["$$excess", { $sum: counts }] } },
  ];
  const rest = { $slice: ["$$all", { $add: ["$$excess", KEPT_OLDEST + 1] }, MAX_NOTES - KEPT_OLDEST - 1] };
  const shorter = { $concatArrays: [{ $slice: ["$$all", KEPT_OLDEST] }, [{ $mergeObjects: next }], rest] };
  return {
    $let: {
      vars: { all },
      in: {
        $let: {
          vars: { excess: { $subtract: [{ $size: "$$all" }, MAX_NOTES] } },
          in: { $cond: [{ $gt: ["$$excess", 0] }, shorter, "$$all"] },
        },
      },
    },
  };
}

/** The update that removes the field without a note. */
const REMOVE_EMPTY = { $set: { notes: { $cond: [{ $gt: ["$notes", []] }, "$notes", "$$REMOVE"] } } };

/**
 * Returns the update that removes notes by their ids, and the field with the last of them.
 * @param announced the rules by which each notification `job.stale` among them was sent, which its recovery is sent by too
 */
export function withoutNotes(
  ids: readonly string[],
  announced: readonly { readonly id: string; readonly rules: readonly string[] }[] = [],
): mongo.Document[] {
  const left = { $filter: { input: "$notes", cond: { $not: { $in: ["$$this.id", [...ids]] } } } };
  return [
    { $set: { notes: left } },
    ...announced.map(({ id, rules }) => ({
      $set: {
        "silence.rules": { $cond: [{ $eq: ["$silence.id", id] }, [...rules], "$silence.rules"] },
        notes: {
          $map: {
            input: "$notes",
            in: {
              $cond: [{ $eq: ["$$this.stale", id] }, { $mergeObjects: ["$$this", { rules: [...rules] }] }, "$$this"],
            },
          },
        },
      },
    })),
    // Setting a part of a field that is missing creates it.
    ...(announced.length > 0
      ? [{ $set: { silence: { $cond: [{ $gt: ["$silence.id", null] }, "$silence", "$$REMOVE"] } } }]
      : []),
    REMOVE_EMPTY,
  ];
}
