import type { mongo } from "mongoose";
import type { Position } from "../db/cursor.ts";
import { searchTerm } from "./freeObject.ts";
import type { JobDoc, Status } from "./job.ts";
import { nameKey } from "./jobs.ts";
import { staleJobs, updatedBefore, updatedFrom } from "./jobTimes.ts";

/** What a list of jobs, or a deletion, is narrowed to; all that is given must hold. */
export interface JobFilter {
  readonly status?: readonly Status[];
  /** The beginning of the name; upper and lower case are the same. */
  readonly name?: string;
  /** The beginning of the jobId, to the letter. */
  readonly jobId?: string;
  /** Pairs of a key in `metadata` (nested keys joined by dots) and its value as text. */
  readonly metadata?: readonly (readonly [key: string, value: string])[];
  readonly createdFrom?: Date;
  readonly createdBefore?: Date;
  readonly updatedFrom?: Date;
  readonly updatedBefore?: Date;
  readonly stale?: boolean;
}

/** The filter as a query. Each condition on its own has an index that finds its jobs (job.ts). */
export function jobQuery(filter: JobFilter, now: Date): mongo.Filter<JobDoc> {
  const all: mongo.Filter<JobDoc>[] = [];
  if (filter.status) all.push({ status: { $in: [...filter.status] } });
  if (filter.name) all.push({ nameKey: beginsWith(nameKey(filter.name)) });
  if (filter.jobId) all.push({ jobId: beginsWith(filter.jobId) });
  for (const [key, value] of filter.metadata ?? []) all.push({ metadataTerms: searchTerm(key, value) });
  if (filter.createdFrom) all.push({ createdAt: { $gte: filter.createdFrom } });
  if (filter.createdBefore) all.push({ createdAt: { $lt: filter.createdBefore } });
  if (filter.updatedFrom) all.push(updatedFrom(filter.updatedFrom));
  if (filter.updatedBefore) all.push(updatedBefore(filter.updatedBefore));
  if (filter.stale === true) all.push(staleJobs(now));
  if (filter.stale === false) all.push({ $nor: [staleJobs(now)] });
  return all.length > 0 ? { $and: all } : {};
}

/** What the filter looks at. */
export type FilteredJob = Pick<
  JobDoc,
  "jobId" | "nameKey" | "metadataTerms" | "status" | "createdAt" | "updatedAt" | "staleAt"
>;

/** Whether the query of the filter would find the job. */
export function matchesFilter(job: FilteredJob, filter: JobFilter, now: Date): boolean {
  const { status, name, jobId, metadata = [], createdFrom, createdBefore, stale } = filter;
  const isStale = job.staleAt !== null && job.staleAt <= now;
  return (
    (!status || status.includes(job.status)) &&
    (!name || (job.nameKey?.startsWith(nameKey(name)) ?? false)) &&
    (!jobId || job.jobId.startsWith(jobId)) &&
    metadata.every(([key, value]) => job.metadataTerms.includes(searchTerm(key, value))) &&
    (!createdFrom || job.createdAt >= createdFrom) &&
    (!createdBefore || job.createdAt < createdBefore) &&
    (!filter.updatedFrom || job.updatedAt >= filter.updatedFrom) &&
    (!filter.updatedBefore || job.updatedAt < filter.updatedBefore) &&
    (stale === undefined || stale === isStale)
  );
}

/** Whether a mere report, or time alone, may take a job out of what the filter fits. */
export const isVolatile = (filter: JobFilter): boolean =>
  [filter.stale, filter.updatedFrom, filter.updatedBefore].some((condition) => condition !== undefined);

/** What comes after a position in a list that is newest first. The bound on createdAt is what the index uses. */
export function olderThan({ createdAt, _id }: Position): mongo.Filter<JobDoc> {
  return { createdAt: { $lte: createdAt }, $or: [{ createdAt: { $lt: createdAt } }, { _id: { $lt: _id } }] };
}

/** The range of all strings that begin with a text: from it up to the least string that is greater than them all. */
export function beginsWith(prefix: string): { $gte: string; $lt?: string } {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1; // surrogates are no characters
    return { $gte: prefix, $lt: String.fromCodePoint(...points, next) };
  }
  return { $gte: prefix };
}
