import type { FreeObject, JobFilter, JobSummary } from "../../../client/client.ts";
import { JOB_ROW } from "../../firstReads.ts";
import { ago, duration } from "../../time.ts";
import type { takeFirst } from "../first.ts";
import { type ListSource, LiveList } from "../live/liveList.ts";
import { service } from "../service.ts";
import { mergeJob } from "./mergeJob.ts";

/** A row of the list of jobs. Events carry no metadata, so that a row that one has added lacks it until it is read. */
export interface JobRow extends JobSummary {
  metadata?: FreeObject | null;
}

/**
 * Creates the list of the jobs that match a filter. Calls `filterOf` for each request, because it may depend on the
 * time.
 * @param first the first page, if it came with the document
 */
export function jobList(filterOf: () => JobFilter, first: ReturnType<typeof takeFirst<"jobs">>): LiveList<JobRow> {
  const source: ListSource<JobRow> = {
    idOf: (job) => job.jobId,
    createdAt: (job) => job.createdAt,
    merge: mergeRow,
    load: async (page, options) => {
      const { jobs, nextCursor } = await service.jobs.list({ ...filterOf(), ...page, fields: JOB_ROW }, options);
      return { rows: jobs, nextCursor };
    },
  };
  return new LiveList(source, first && { rows: first.jobs, nextCursor: first.nextCursor });
}

function mergeRow(shown: JobRow, news: JobRow): JobRow {
  const merged = mergeJob(shown, news);
  return news.metadata !== undefined && shown.createdAt === news.createdAt
    ? { ...merged, metadata: news.metadata }
    : merged;
}

/** Number of rows at the top to which events add new ones, and whose metadata is read afterwards. */
const NEW_ROWS = 100;

/** Reads the metadata of the rows at the top of a list that lack it. */
export async function readMetadata(list: LiveList<JobRow>, filter: JobFilter): Promise<void> {
  if (!list.view.peek().rows.slice(0, NEW_ROWS).some(lacksMetadata)) return;
  const { jobs } = await service.jobs.list({ ...filter, limit: NEW_ROWS, fields: JOB_ROW });
  const read = new Map(jobs.map((job) => [job.jobId, job]));
  // A row that was removed meanwhile is not added again.
  for (const row of list.view.peek().rows.slice(0, NEW_ROWS)) {
    const job = read.get(row.jobId);
    if (job && lacksMetadata(row)) list.put(job);
  }
}

export const lacksMetadata = ({ metadata }: JobRow): boolean => metadata === undefined;

/** Silence from which the page says how long it lasts, instead of when the last report was. */
const SILENCE_MS = 60_000;

/** Returns that cancellation of a running job was requested, and since when it is without a report; null otherwise. */
export function cancelNote({ status, cancel, lastReportAt, createdAt }: JobSummary, now: number): string | null {
  if (status !== "running" || !cancel) return null;
  const silentMs = now - Date.parse(lastReportAt ?? createdAt);
  if (silentMs >= SILENCE_MS) return `Cancel requested, no report for ${duration(silentMs)}`;
  return `Cancel requested, ${lastReportAt ? `last report ${ago(lastReportAt, now)}` : "no report yet"}`;
}
