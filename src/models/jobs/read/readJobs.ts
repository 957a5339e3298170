import type { ChangedJob, JobRead, JobView } from "../../../wire/job.ts";
import { decodeCursor, encodeCursor } from "../../db/cursor.ts";
import { readPage } from "../../db/page.ts";
import { type JobDoc, type JobHead, WITHOUT_STEPS } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import { jobNotFound } from "../jobs.ts";
import { PAYLOAD_FIELDS, type PayloadField } from "../payloads/payloadFields.ts";
import { lengthOf } from "../payloads/payloads.ts";
import { type JobFilter, jobQuery, olderThan } from "../search/jobFilter.ts";
import { readJobWithSteps } from "./readSteps.ts";
import { pick, viewJobs } from "./viewJobs.ts";

type JobField = keyof JobView;

/** Returns a job after a change of it. @throws AppError as `viewJob` */
export async function viewWrittenJob(stores: JobStores, job: JobHead): Promise<ChangedJob> {
  const view = await viewJob(stores, job);
  return { ...view, ...(view.cancel && { cancelRequested: true as const }) };
}

/** Returns a job with its current step. @throws AppError job_not_found (it has been deleted since it was read), unavailable */
async function viewJob(stores: JobStores, job: JobHead, freshUsual = false): Promise<JobView> {
  const [view] = await viewJobs(stores, [job], freshUsual);
  if (!view) throw jobNotFound(job.jobId);
  return view;
}

interface JobReadOptions {
  readonly stepKey?: string | undefined;
  readonly withSteps?: boolean;
  /** Whether the usual duration is read again rather than taken from the cache of this process. */
  readonly freshUsual?: boolean;
}

/**
 * Reads a job, with one of its steps if `stepKey` is given, and with all of them if `withSteps` is set.
 * @returns `step` is null if the job has no step of that key
 * @throws AppError job_not_found, invalid_query (all steps are too large for one response), unavailable
 */
export async function readJob(
  stores: JobStores,
  jobId: string,
  { stepKey, withSteps = false, freshUsual = false }: JobReadOptions,
): Promise<JobRead> {
  if (stepKey === undefined && !withSteps) {
    return viewJob(stores, await stores.jobs.find(jobId), freshUsual);
  }
  const { job, ...steps } = await readJobWithSteps(stores, jobId, { stepKey, withSteps });
  return { ...(await viewJob(stores, job, freshUsual)), ...steps };
}

/** Returns the next time at which a job or one of its steps that was read with it becomes stale; null if none does. */
export function nextStaleAt({ jobs }: Pick<JobStores, "jobs">, read: JobRead, now: Date): Date | null {
  const { currentStep, step, steps = [], waitingFor } = read;
  if (waitingFor.length > 0) return null;
  const fresh = [currentStep, step, ...steps].filter((one) => one?.status === "running" && !one.stale);
  const times = fresh.map((one) => Date.parse(one?.lastReportAt ?? "") + jobs.staleAfterMs(read));
  // A step whose time has passed is not stale because its job has waited for a person; then the time of the job comes first.
  const coming = times.filter((time) => time > now.getTime());
  if (read.staleAt !== null && !read.stale) coming.push(Date.parse(read.staleAt));
  return coming.length > 0 ? new Date(Math.min(...coming)) : null;
}

export interface JobListQuery {
  readonly filter: JobFilter;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The fields of a row besides jobId. Without it, a row has all fields. */
  readonly fields?: readonly JobField[] | undefined;
}

/** Returns a page of jobs, the newest first by creation. */
export async function listJobs(
  stores: JobStores,
  { filter, limit, cursor, fields }: JobListQuery,
  now: Date,
): Promise<{ jobs: Partial<JobView>[]; nextCursor: string | null }> {
  const { jobs } = stores;
  const query = [jobQuery(filter, now), ...(cursor === undefined ? [] : [olderThan(decodeCursor(cursor))])];
  const unwanted = PAYLOAD_FIELDS.filter((field) => fields && !fields.includes(field));
  const projection = {
    ...WITHOUT_STEPS,
    ...Object.fromEntries(["metadataTerms", "nameWords", "failedWords", ...unwanted].map((field) => [field, 0])),
  };
  const newest = { filter: { $and: query }, projection, sort: { createdAt: -1, _id: -1 } as const };
  const bytesOf = (job: JobDoc) => PAYLOAD_FIELDS.reduce((sum, field) => sum + lengthOf(job[field]), 0);
  const page = await readPage(jobs.collection, newest, { limit, bytesOf });
  const rows = (await viewJobs(stores, page.rows)).filter((row) => row !== null);
  return {
    jobs: fields ? rows.map((row) => pick(row, ["jobId", ...fields])) : rows,
    nextCursor: page.last && encodeCursor(page.last),
  };
}

/** Reads jobs, each with its row in lists. Jobs that no longer exist are left out. */
export async function readJobRows(
  stores: JobStores,
  jobIds: readonly string[],
): Promise<{ job: JobDoc; row: Omit<JobView, PayloadField> }[]> {
  if (jobIds.length === 0) return [];
  const projection = { ...WITHOUT_STEPS, ...Object.fromEntries(PAYLOAD_FIELDS.map((field) => [field, 0])) };
  const found = await stores.jobs.collection.find<JobDoc>({ jobId: { $in: [...jobIds] } }, { projection });
  const views = await viewJobs(stores, found);
  return found.map((job, i) => {
    const { input: _, metadata: __, output: ___, ...row } = views[i] as JobView;
    return { job, row };
  });
}
