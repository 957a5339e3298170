import Type from "typebox";
import { BsonDate, closedObject, defineCollection, nullable } from "../db/collection.ts";
import type { JobDoc } from "../jobs/job.ts";
import { NOTED_INDEX, Note, Notes } from "./note.ts";

/** How long an event that was set aside is kept. */
const KEEP_FAILED_SECONDS = 30 * 86_400;

/**
 * An event without a record of its own: of a job that was deleted before its notes were dispatched, a test of a rule, or an event
 * that was set aside because its dispatch failed again and again.
 */
const OutboxDoc = closedObject({
  /** The internal id of the deleted job, the id of the test, or `failed-` and the id of the event. */
  _id: Type.String(),
  /** The deleted job, without its steps. */
  job: nullable(Type.Unsafe<Omit<JobDoc, "notes" | "steps" | "replaced">>({ type: "object" })),
  /** The id of the rule under test. */
  rule: nullable(Type.String()),
  notes: Notes,
  /** The event that was set aside, and why; missing otherwise. */
  failed: Type.Optional(closedObject({ note: Note, error: Type.String() })),
  failedAt: Type.Optional(BsonDate),
});
export const outboxCollection = defineCollection(OutboxDoc, [
  NOTED_INDEX,
  { keys: { failedAt: 1 }, expireAfterSeconds: KEEP_FAILED_SECONDS },
]);
