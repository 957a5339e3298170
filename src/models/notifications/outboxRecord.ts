import Type from "typebox";
import { closedObject, defineCollection, nullable } from "../db/collection.ts";
import type { JobDoc } from "../jobs/job.ts";
import { NOTED_INDEX, Notes } from "./note.ts";

/** An event without a record of its own: of a job that was deleted before its notes were dispatched, or a test of a rule. */
const OutboxDoc = closedObject({
  /** The internal id of the deleted job, or the id of the test. */
  _id: Type.String(),
  /** The deleted job, with its steps. */
  job: nullable(Type.Unsafe<Omit<JobDoc, "notes">>({ type: "object" })),
  /** The id of the rule under test. */
  rule: nullable(Type.String()),
  notes: Notes,
});
export const outboxCollection = defineCollection(OutboxDoc, [NOTED_INDEX]);
