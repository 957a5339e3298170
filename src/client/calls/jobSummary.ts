import type { JobSummary } from "../records/jobs.ts";

/** The fields of a job that live events have: inputs, outputs and metadata can be large. */
export const JOB_SUMMARY = [
  "jobId",
  "name",
  "description",
  "status",
  "progress",
  "message",
  "createdAt",
  "updatedAt",
  "lastReportAt",
  "staleAt",
  "stale",
  "staleAfterSeconds",
  "waitingFor",
  "cancel",
  "currentStep",
  "stepCounts",
] as const satisfies readonly (keyof JobSummary)[];
