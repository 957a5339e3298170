import type { mongo } from "mongoose";
import type { Position } from "../../db/cursor.ts";
import { beginsWith, nameKey, nameWords, wordQueries } from "../../db/nameSearch.ts";
import type { JobDoc, Status } from "../job.ts";
import { isInScope, type JobGroup, type JobScope } from "../jobScope.ts";
import { staleJobs, updatedBefore, updatedFrom } from "../jobTimes.ts";
import { type SearchTerm, searchTerm } from "./searchKeys.ts";

/** Conditions for a list or a deletion of jobs. A job matches if it fulfils all that are given. */
export interface JobFilter {
  readonly status?: readonly Status[];
  /** A prefix of the name, in upper or lower case. */
  readonly name?: string;
  /** Words that each begin a word of the name, or the beginning of the name or of the jobId. */
  readonly search?: string;
  /** A prefix of the jobId, case-sensitive. */
  readonly jobId?: string;
  /** Pairs of a key in `metadata` (nested keys joined by dots) and its value as text. */
  readonly metadata?: readonly (readonly [key: string, value: string])[];
  readonly parentJobId?: string;
  /** Set to leave out the children of other jobs. */
  readonly hasParent?: false;
  readonly createdFrom?: Date;
  readonly createdBefore?: Date;
  readonly updatedFrom?: Date;
  readonly updatedBefore?: Date;
  readonly stale?: boolean;
  /** The jobs to which the caller is confined. */
  readonly scope?: JobScope | undefined;
  /** Failed jobs whose cancellation was requested, or all others. */
  readonly cancelled?: boolean;
}

/** Returns the query for a filter. Each condition has an index of its own (job.ts). */
export function jobQuery(filter: JobFilter, now: Date): mongo.Filter<JobDoc> {
  const all: mongo.Filter<JobDoc>[] = [];
  if (filter.scope) all.push(scopeQuery(filter.scope));
  if (filter.status) all.push({ status: { $in: [...filter.status] } });
  if (filter.name) all.push(nameQuery(filter.name));
  if (filter.search) all.push(searchQuery(filter.search));
  if (filter.jobId) all.push({ jobId: beginsWith(filter.jobId) });
  if (filter.parentJobId !== undefined) all.push({ parentJobId: filter.parentJobId });
  if (filter.hasParent === false) all.push({ parentJobId: null });
  for (const [key, value] of filter.metadata ?? []) all.push({ metadataTerms: searchTerm(key, value) });
  if (filter.createdFrom) all.push({ createdAt: { $gte: filter.createdFrom } });
  if (filter.createdBefore) all.push({ createdAt: { $lt: filter.createdBefore } });
  if (filter.updatedFrom) all.push(updatedFrom(filter.updatedFrom));
  if (filter.updatedBefore) all.push(updatedBefore(filter.updatedBefore));
  if (filter.stale === true) all.push(staleJobs(now));
  if (filter.stale === false) all.push({ $nor: [staleJobs(now)] });
  if (filter.cancelled === true) all.push(CANCELLED_JOBS);
  if (filter.cancelled === false) all.push({ $nor: [CANCELLED_JOBS] });
  return all.length > 0 ? { $and: all } : {};
}

/** Returns the query for the jobs that a token may use, or for what belongs to them. */
export function scopeQuery(scope: JobScope): IdQuery | { $or: IdQuery[] } {
  const [first = NO_JOB, ...others] = scope.map(groupQuery);
  return others.length === 0 ? first : { $or: [first, ...others] };
}

const groupQuery = (group: JobGroup): IdQuery => ({
  jobId: "idPrefix" in group ? beginsWith(group.idPrefix) : group.jobId,
});

interface IdQuery {
  jobId: string | ReturnType<typeof beginsWith> | { $in: string[] };
}

const NO_JOB: IdQuery = { jobId: { $in: [] } };

/** The query for cancelled jobs: failed ones whose cancellation was requested. Its second condition selects the index. */
const CANCELLED_JOBS: mongo.Filter<JobDoc> = { status: "failed", "cancel.requestedAt": { $exists: true } };

const nameQuery = (name: string): mongo.Filter<JobDoc> => ({ nameKey: beginsWith(nameKey(name)) });

function searchQuery(search: string): mongo.Filter<JobDoc> {
  const inMessage = nameWords(search).map((word) => ({ failedWords: { $elemMatch: beginsWith(word) } }));
  const messages = inMessage.length > 0 ? [{ $and: inMessage }] : [];
  return { $or: [...wordQueries(search), ...messages, nameQuery(search), { jobId: beginsWith(search) }] };
}

/** Returns whether a job matches a search. Agrees with `searchQuery`. */
function matchesSearch(job: FilteredJob, search: string): boolean {
  const words = nameWords(search);
  const hasWord = (word: string) => job.nameWords.some((one) => one.startsWith(word));
  const isInMessage = (word: string) => job.failedWords?.some((one) => one.startsWith(word)) ?? false;
  const hasWords = words.length > 0 && (words.every(hasWord) || words.every(isInMessage));
  return hasWords || matchesName(job, search) || job.jobId.startsWith(search);
}

const matchesName = (job: FilteredJob, name: string): boolean => job.nameKey?.startsWith(nameKey(name)) ?? false;

/** Returns whether a job has a term. */
export function hasTerm(terms: readonly SearchTerm[], key: string, value: string): boolean {
  const text = key.includes("=") ? undefined : `${key}=${value}`;
  return terms.some((term) => (typeof term === "string" ? term === text : term.key === key && term.value === value));
}

/** The fields that a filter compares. */
export type FilteredJob = Pick<
  JobDoc,
  | "jobId"
  | "parentJobId"
  | "failedWords"
  | "nameKey"
  | "nameWords"
  | "metadataTerms"
  | "status"
  | "createdAt"
  | "updatedAt"
  | "staleAt"
  | "cancel"
>;

/** Returns whether a job matches a filter. Agrees with `jobQuery`. */
export function matchesFilter(job: FilteredJob, filter: JobFilter, now: Date): boolean {
  const { status, name, jobId, metadata = [], createdFrom, createdBefore, stale, cancelled } = filter;
  const isStale = job.staleAt !== null && job.staleAt <= now;
  const isCancelled = job.status === "failed" && job.cancel !== undefined;
  return (
    isInScope(job.jobId, filter.scope) &&
    (!status || status.includes(job.status)) &&
    (!name || matchesName(job, name)) &&
    (!filter.search || matchesSearch(job, filter.search)) &&
    (!jobId || job.jobId.startsWith(jobId)) &&
    (filter.parentJobId === undefined || job.parentJobId === filter.parentJobId) &&
    (filter.hasParent !== false || job.parentJobId === null) &&
    metadata.every(([key, value]) => hasTerm(job.metadataTerms, key, value)) &&
    (!createdFrom || job.createdAt >= createdFrom) &&
    (!createdBefore || job.createdAt < createdBefore) &&
    (!filter.updatedFrom || job.updatedAt >= filter.updatedFrom) &&
    (!filter.updatedBefore || job.updatedAt < filter.updatedBefore) &&
    (stale === undefined || stale === isStale) &&
    (cancelled === undefined || cancelled === isCancelled)
  );
}

/** Returns whether a job may stop matching the filter by time alone, or by a report that does not end it. */
export const isVolatile = (filter: JobFilter): boolean =>
  [filter.stale, filter.updatedFrom, filter.updatedBefore].some((condition) => condition !== undefined);

/** Returns the query for the rows after a position in a list, newest first. The index uses its bound on createdAt. */
export function olderThan({ createdAt, _id }: Position): mongo.Filter<JobDoc> {
  return { createdAt: { $lte: createdAt }, $or: [{ createdAt: { $lt: createdAt } }, { _id: { $lt: _id } }] };
}
