import { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { EVENT_TYPES } from "../../shared/config/formats/eventTypes.ts";
import { BsonDate, closedObject } from "../db/collection.ts";

/** The types of events: those that rules name, and `test`, which an operator requests for one rule. */
export const NotedType = Type.Enum([...EVENT_TYPES, "test"]);
export type NotedType = Static<typeof NotedType>;

/**
 * An event that has happened to a record and is not dispatched yet. The update that makes the transition also adds the note, so
 * that neither exists without the other. A worker turns the note into deliveries and removes it.
 */
export const Note = closedObject({
  /** The id of the event: constant over every repetition, and without a dot, which Standard Webhooks does not permit. */
  id: Type.String(),
  type: NotedType,
  at: BsonDate,
  /** Fields of the record at that moment, in place of those that it has when the note is read. */
  was: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" })),
  /** Why it happened, if the transition has a reason. */
  reason: Type.Optional(Type.String()),
  /** For `job.recovered`: the id of the event that announced the job as stale. */
  stale: Type.Optional(Type.String()),
  /** The scan that found so many stale jobs that chats get one message for all of them. Only the scan dispatches such notes. */
  batch: Type.Optional(Type.String()),
  /** For events of gates: the gate as clients read it. */
  gate: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" })),
});
export type Note = Static<typeof Note>;

/** The field of a record that holds its notes; missing while it has none. */
export const Notes = Type.Optional(Type.Array(Note));

/** The index that finds the records with notes, the oldest first. It contains no other records. */
export const NOTED_INDEX = {
  keys: { "notes.at": 1 },
  partialFilterExpression: { "notes.at": { $exists: true } },
} as const;

/**
 * The kinds of records with notes. `expectation`: an expected job that may be missing; `outbox`: a deleted record whose
 * notes were not dispatched, or a test of a rule.
 */
export const NOTED_KINDS = ["job", "run", "delivery", "expectation", "outbox"] as const;
export type NotedKind = (typeof NOTED_KINDS)[number];

/** Enqueues records with new notes. */
export interface NoteNotifier {
  /**
   * Never throws and never waits, because the sweep enqueues what is missing.
   * @param id the id of the record: a job's jobId, otherwise its `_id`
   * @param occasion makes the id of the queue entry unique, because an earlier one may be active
   */
  noted(kind: NotedKind, id: string, occasion: string): void;
}

export const NO_NOTES: NoteNotifier = { noted: () => {} };

/** Returns a new id for an event. */
export const newNoteId = (): string => new mongo.ObjectId().toHexString();

/** Returns the expression that appends notes. */
export const appendNotes = (...notes: readonly unknown[]) => ({
  $concatArrays: [{ $ifNull: ["$notes", []] }, ...notes],
});

/** Returns the update that removes notes by their ids, and the field with the last of them. */
export const withoutNotes = (ids: readonly string[]): mongo.Document[] => [
  { $set: { notes: { $filter: { input: "$notes", cond: { $not: { $in: ["$$this.id", [...ids]] } } } } } },
  { $set: { notes: { $cond: [{ $gt: ["$notes", []] }, "$notes", "$$REMOVE"] } } },
];
