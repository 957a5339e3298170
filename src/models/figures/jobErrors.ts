import type { JobErrors } from "../../wire/stats.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { JobScope } from "../jobs/jobScope.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { scopeQuery } from "../jobs/search/jobFilter.ts";

/** Maximum failures that are grouped, the newest ones, and characters of a message that are compared. */
const MAX_FAILURES = 10_000;
const MAX_MESSAGE_CHARS = 300;
/** Maximum groups in the result. */
const MAX_GROUPS = 20;

type Failure = Pick<JobDoc, "jobId" | "message" | "endedAt">;

/**
 * Groups the jobs that failed since a time by their message, in which ids, numbers and quoted words do not count. Cancelled jobs are
 * left out.
 * @param scope confines the jobs
 * @returns the groups with the newest failures, newest first
 */
export async function readJobErrors(
  { collection }: Pick<Jobs, "collection">,
  since: Date,
  scope: JobScope | undefined,
): Promise<JobErrors> {
  const failed = { status: "failed" as const, "cancel.requestedAt": null, endedAt: { $gte: since } };
  const query = { ...failed, ...(scope && scopeQuery(scope)) };
  const failures = await collection.find<Failure>(query, {
    projection: { _id: 0, jobId: 1, message: 1, endedAt: 1 },
    sort: { endedAt: -1 },
    limit: MAX_FAILURES,
  });
  const groups = Map.groupBy(failures, ({ message }) => foldMessage(message ?? ""));
  return {
    errors: [...groups].slice(0, MAX_GROUPS).map(([message, group]) => {
      const { jobId, endedAt } = group[0] as Failure;
      return { message, count: group.length, newest: { jobId, at: (endedAt as Date).toISOString() } };
    }),
  };
}

/** Returns the first line of a message, with signs in place of ids, numbers and quoted words. */
function foldMessage(message: string): string {
  const line = message.trim().split("\n", 1)[0] as string;
  return line
    .slice(0, MAX_MESSAGE_CHARS)
    .toWellFormed()
    .replace(/"[^"]*"|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])|“[^“”]*”/gu, "“…”")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "ID")
    .replace(/\d+([.,:]\d+)*/g, "N");
}
