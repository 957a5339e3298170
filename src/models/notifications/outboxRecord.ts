import { date, free, nullable, object, optional, type Stored, schemaOf, string } from "../db/fields.ts";
import type { JobDoc } from "../jobs/job.ts";
import { NOTED_INDEX, Note, Notes } from "../notes/note.ts";

/** How long an event that was set aside is kept. */
const KEEP_FAILED_SECONDS = 30 * 86_400;

/**
 * An event without a record of its own: of a job that was deleted before its notes were dispatched, a test of a rule, or an event
 * that was set aside because its dispatch failed again and again.
 */
export const OutboxDoc = object({
  /** The internal id of the deleted job, the id of the test, or `failed-` and the id of the event. */
  _id: string,
  /** The deleted job, without its steps. */
  job: nullable(free<Omit<JobDoc, "notes" | "steps" | "replaced">>()),
  /** The id of the rule under test. */
  rule: nullable(string),
  notes: Notes,
  /** The event that was set aside, and why; missing otherwise. */
  failed: optional(object({ note: Note, error: string })),
  failedAt: optional(date),
});
export type OutboxDoc = Stored<typeof OutboxDoc>;
export const outboxSchema = schemaOf(OutboxDoc)
  .index(NOTED_INDEX.keys, NOTED_INDEX.options)
  .index({ failedAt: 1 }, { expireAfterSeconds: KEEP_FAILED_SECONDS });
