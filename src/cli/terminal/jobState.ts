import type { JobSummary } from "../../client/client.ts";
import { age } from "./words.ts";

/** The fields of a job that decide how its state is displayed. */
type StateFields = Pick<JobSummary, "status" | "stale" | "cancel"> & Partial<Pick<JobSummary, "staleAt">>;

/** Returns the displayed state of a job. It becomes stale by the clock of this machine, without an event. */
export function jobState({ status, stale, staleAt, cancel }: StateFields): string {
  if (status !== "running") return status === "failed" && cancel ? "cancelled" : status;
  return stale || (staleAt && Date.now() >= Date.parse(staleAt)) ? "stale" : status;
}

/** Returns that cancellation of a running job was requested, and since when its worker has not reported; null otherwise. */
export function cancelNote({ status, cancel, lastReportAt, createdAt }: JobSummary): string | null {
  if (status !== "running" || !cancel) return null;
  return `cancel requested, no report for ${age(lastReportAt ?? createdAt)}`;
}
