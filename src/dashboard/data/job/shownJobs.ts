import type { LiveList } from "../live/liveList.ts";
import type { JobRow } from "./jobRows.ts";

/** The last shown list of jobs, so that going back to it shows the same rows. */
let last: { readonly key: string; readonly list: LiveList<JobRow> } | undefined;

/** Returns the last shown list if its filters are the same; otherwise makes a new one. */
export function shownList(key: string, create: () => LiveList<JobRow>): LiveList<JobRow> {
  if (last?.key !== key) last = { key, list: create() };
  return last.list;
}

const shownRows = (): readonly JobRow[] => last?.list.view.peek().rows ?? [];

/** Returns the row of a job in the last shown list; null if it has none. */
export const shownRow = (jobId: string): JobRow | null => shownRows().find((row) => row.jobId === jobId) ?? null;

/** Returns the ids of the jobs above and below a job in the last shown list. */
export function neighbours(jobId: string): { readonly above: string | undefined; readonly below: string | undefined } {
  const rows = shownRows();
  const at = rows.findIndex((row) => row.jobId === jobId);
  return { above: at > 0 ? rows[at - 1]?.jobId : undefined, below: at >= 0 ? rows[at + 1]?.jobId : undefined };
}
