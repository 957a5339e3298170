import type { JobFilter, JobSummary } from "../../client/client.ts";
import { LiveList } from "./liveList.ts";
import { JOB_ROW, service } from "./service.ts";

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

/** Returns the newer of two states of a job. Responses and events may arrive in any order; progress never decreases. */
export function mergeJob<J extends JobSummary>(shown: J, news: JobSummary): J {
  if (shown.createdAt !== news.createdAt)
    return news.createdAt > shown.createdAt ? ({ ...shown, ...news } as J) : shown;
  if (news.updatedAt < shown.updatedAt) return shown;
  return { ...shown, ...news, progress: Math.max(shown.progress, news.progress) };
}

/** Whether a job is stale at this time. The service sends no event when a job becomes stale. */
export function isStale(
  { status, stale, staleAt }: Pick<JobSummary, "status" | "stale" | "staleAt">,
  now: number,
): boolean {
  if (status !== "running") return false;
  return staleAt ? Date.parse(staleAt) <= now : stale;
}
