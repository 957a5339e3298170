import type { JobFilter, JobSummary } from "../../client/client.ts";
import { LiveList } from "./liveList.ts";
import { JOB_ROW, service } from "./service.ts";

/** The list of the jobs that a filter fits, which is asked for at each reading: it may go with the time. */
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

/** What a job is called: its name, or its id where that says nothing. */
export const titleOf = ({ name, jobId }: Pick<JobSummary, "name" | "jobId">): string => (name?.trim() ? name : jobId);

/** The newer of two looks at a job. What was read and what was told cross on the way; progress never goes back. */
export function mergeJob<J extends JobSummary>(shown: J, news: JobSummary): J {
  if (shown.createdAt !== news.createdAt)
    return news.createdAt > shown.createdAt ? ({ ...shown, ...news } as J) : shown;
  if (news.updatedAt < shown.updatedAt) return shown;
  return { ...shown, ...news, progress: Math.max(shown.progress, news.progress) };
}

/** Whether it is silent for too long, by the reader's clock: no event comes of time alone. */
export function isStale(
  { status, stale, staleAt }: Pick<JobSummary, "status" | "stale" | "staleAt">,
  now: number,
): boolean {
  if (status !== "running") return false;
  return staleAt ? Date.parse(staleAt) <= now : stale;
}
