import { JOB_SUMMARY } from "../../../client/calls/jobSummary.ts";
import type { Job, JobSummary } from "../../../client/client.ts";

/** Returns the newer of two states of a job. Responses and events may arrive in any order; progress never decreases. */
export function mergeJob<J extends JobSummary>(shown: J, news: JobSummary): J {
  if (shown.createdAt !== news.createdAt)
    return news.createdAt > shown.createdAt ? ({ ...shown, ...news } as J) : shown;
  if (news.updatedAt < shown.updatedAt) return shown;
  return { ...shown, ...news, progress: Math.max(shown.progress, news.progress) };
}

/** Merges a response into the shown job. Only a response has all fields; of the others an event may be newer. */
export function mergeRead(shown: Job, read: Job): Job {
  if (read.updatedAt >= shown.updatedAt) return mergeJob(shown, read);
  return { ...read, ...Object.fromEntries(JOB_SUMMARY.map((field) => [field, shown[field]])) };
}
