import { JOB_SUMMARY } from "../client/calls/jobSummary.ts";
import type { Step } from "../client/client.ts";
import type { Path } from "./paths.ts";

/** The fields of a row of the list of jobs. */
export const JOB_ROW = [...JOB_SUMMARY, "metadata"] as const;

/** The fields of a row of the list of steps, without the jobId, which is the same for all. */
export const STEP_ROW = [
  "stepId",
  "stepName",
  "status",
  "progress",
  "message",
  "createdAt",
  "updatedAt",
  "startedAt",
  "attempts",
  "lastReportAt",
  "stale",
] as const satisfies readonly (keyof Step)[];

/** Rows of the first page of a list, which is soon there on a slow network. */
export const FIRST_PAGE = 100;

/** The first reads of a page over the API, by the names under which the service puts the answers into its document. */
export const FIRST_READS: { readonly [P in Path]?: Readonly<Record<string, string>> } = {
  "/": { jobs: `/api/jobs?limit=${FIRST_PAGE}&fields=${JOB_ROW}` },
  "/jobs/:jobId": {
    job: "/api/jobs/:jobId",
    urgent: `/api/jobs/:jobId/steps?status=running&status=failed&limit=${FIRST_PAGE}&fields=${STEP_ROW}`,
    completed: `/api/jobs/:jobId/steps?status=completed&limit=${FIRST_PAGE}&fields=${STEP_ROW}`,
  },
};
