import type { Job, JobSummary } from "../../../client/client.ts";

/** Returns the newer of two states of a job. Responses and events may arrive in any order; progress never decreases. */
export function mergeJob<J extends JobSummary>(shown: J, news: JobSummary): J {
  if (shown.createdAt !== news.createdAt)
    return news.createdAt > shown.createdAt ? ({ ...shown, ...news } as J) : shown;
  if (news.updatedAt < shown.updatedAt) return shown;
  return { ...shown, ...news, progress: Math.max(shown.progress, news.progress) };
}

/** Merges a response into the shown job. Only a response has input, metadata and output; an event may be newer. */
export function mergeRead(shown: Job, read: Job): Job {
  const { input, metadata, output } = read;
  return read.updatedAt >= shown.updatedAt ? (mergeJob(shown, read) as Job) : { ...shown, input, metadata, output };
}
