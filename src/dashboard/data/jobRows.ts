import type { Job, JobFilter, JobSummary } from "../../client/client.ts";
import { LiveList } from "./liveList.ts";
import { mergeJob } from "./mergeJob.ts";
import { service } from "./service.ts";

/** The fields of a row of the list of jobs; inputs and outputs are large. */
const JOB_ROW: readonly (keyof Job)[] = [
  ...(["jobId", "name", "description", "status", "progress", "message", "createdAt", "updatedAt"] as const),
  ...(["lastReportAt", "staleAt", "stale", "staleAfterSeconds", "currentStep"] as const),
];

/**
 * Creates the list of the jobs that match a filter. Calls `filterOf` for each request, because it may depend on the
 * time.
 */
export function jobList(filterOf: () => JobFilter): LiveList<JobSummary> {
  return new LiveList<JobSummary>({
    idOf: (job) => job.jobId,
    createdAt: (job) => job.createdAt,
    merge: mergeJob,
    load: async ({ limit, cursor, signal }) => {
      const page = { limit, cursor: cursor ?? undefined };
      const { jobs, nextCursor } = await service.jobs.list({ ...filterOf(), ...page, fields: JOB_ROW }, { signal });
      return { rows: jobs, nextCursor };
    },
  });
}

/** Returns the name of a job, or its id if the name is missing or blank. */
export const titleOf = ({ name, jobId }: Pick<JobSummary, "name" | "jobId">): string => (name?.trim() ? name : jobId);

/** Whether a job is stale at this time. The service sends no event when a job becomes stale. */
export function isStale(
  { status, stale, staleAt }: Pick<JobSummary, "status" | "stale" | "staleAt">,
  now: number,
): boolean {
  if (status !== "running") return false;
  return staleAt ? Date.parse(staleAt) <= now : stale;
}
