import * as f from "../db/fields.ts";
import type { JobDoc } from "../jobs/job.ts";
import { NOTED_INDEX, Note, Notes } from "../notes/note.ts";

/** How long a notification that was set aside is kept. */
const KEEP_FAILED_SECONDS = 30 * 86_400;

/**
 * A notification without a record of its own: of a job that was deleted before its notes were dispatched, a test of a rule, or
 * a notification that was set aside because its dispatch failed again and again.
 */
export const OutboxDoc = f.object({
  /** The internal id of the deleted job, the id of the test, or `failed-` and the id of the notification. */
  _id: f.string,
  /** The deleted job, without its steps. */
  job: f.nullable(f.free<Omit<JobDoc, "notes" | "steps" | "replaced">>()),
  /** The id of the rule under test. */
  rule: f.nullable(f.string),
  notes: Notes,
  /** The notification that was set aside, and why; missing otherwise. */
  failed: f.optional(f.object({ note: Note, error: f.string })),
  failedAt: f.optional(f.date),
});
export type OutboxDoc = f.Stored<typeof OutboxDoc>;
export const outboxSchema = f
  .schemaOf(OutboxDoc)
  .index(NOTED_INDEX.keys, NOTED_INDEX.options)
  .index({ failedAt: 1 }, { expireAfterSeconds: KEEP_FAILED_SECONDS });
