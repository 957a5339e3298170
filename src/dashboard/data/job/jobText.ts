import type { JobSummary, StatusCounts } from "../../../client/client.ts";
import { count } from "../../time.ts";

/** Returns the name of a job, or its id if the name is missing or blank. */
export const titleOf = ({ name, jobId }: Pick<JobSummary, "name" | "jobId">): string => (name?.trim() ? name : jobId);

/** Returns the number of steps or children of a job. */
export const countOf = ({ running, completed, failed }: StatusCounts): number => running + completed + failed;

/** Returns how many steps of a job are completed, and how many have failed: "5 of 6 steps, 1 failed"; empty without steps. */
export function stepsText(counts: StatusCounts): string {
  const all = countOf(counts);
  if (all === 0) return "";
  const failed = counts.failed > 0 ? `, ${count(counts.failed)} failed` : "";
  return `${count(counts.completed)} of ${count(all)} ${all === 1 ? "step" : "steps"}${failed}`;
}

/** Whether a job is stale at this time. The service sends no event when a job becomes stale. */
export function isStale({ status, stale, staleAt }: JobSummary, now: number): boolean {
  if (status !== "running") return false;
  return staleAt ? Date.parse(staleAt) <= now : stale;
}

/**
 * Returns the status that the page shows: a running job with an open gate waits for a person, and a failed job whose cancellation
 * was requested is cancelled.
 */
export function shownStatus({ status, waitingFor, cancel }: JobSummary): string {
  if (status === "running" && waitingFor?.length > 0) return "waiting";
  return status === "failed" && cancel ? "cancelled" : status;
}
