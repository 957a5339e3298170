import type { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import { decodeCursor, encodeCursor, type Position } from "../cursor.ts";
import type { CurrentStep, JobDoc, JobView } from "../job.ts";
import { type JobFilter, jobQuery, olderThan } from "../jobFilter.ts";
import { reading } from "../newPrimary.ts";
import { takePage } from "../page.ts";
import { readAll } from "../readAll.ts";
import { upToDate } from "../reportedJob.ts";
import type { SingleStepView, StepDoc, StepSummary, StepView } from "../step.ts";
import type { Stores } from "../stores.ts";
import { findCurrentSteps } from "./currentSteps.ts";

/** Most characters of free objects of all steps of a job at once, which have no next page. */
const INCLUDED_BYTES = 64 * 1024 * 1024;

export interface JobWithStep extends JobView {
  currentStep: StepSummary | null;
}

export interface JobRead extends JobWithStep {
  step?: SingleStepView | null;
  steps?: StepView[];
}

type JobField = keyof JobWithStep;

/** The job with its current step. @throws AppError unavailable */
export async function withCurrentStep({ jobs, steps }: Stores, job: JobDoc): Promise<JobWithStep> {
  const current = job.currentKnown ? job.current : await steps.findCurrent(job);
  return { ...jobs.view(job), currentStep: current ? summaryOf({ jobs, steps }, job, current) : null };
}

const summaryOf = ({ jobs, steps }: Pick<Stores, "jobs" | "steps">, job: JobDoc, current: CurrentStep): StepSummary =>
  steps.summary({ ...current, jobId: job.jobId }, jobs.staleAfterMs(job));

/**
 * One job, with one of its steps (null when it has none of that key) and with all of them where asked for.
 * @throws AppError job_not_found, invalid_query (all steps are too large for one answer), unavailable
 */
export async function readJob(
  stores: Stores,
  jobId: string,
  { stepKey, withSteps = false }: { stepKey?: string | undefined; withSteps?: boolean },
): Promise<JobRead> {
  const { jobs, steps } = stores;
  const job = await jobs.find(jobId);
  const read: JobRead = await withCurrentStep(stores, job);
  if (stepKey !== undefined) {
    const step = await reading(steps.collection, () => steps.collection.findOne({ jobId, job: job._id, stepKey }));
    read.step = step && steps.single(upToDate(step, job), jobs.staleAfterMs(job));
  }
  if (withSteps) {
    const all = await takePage(stores.steps.collection, () => stepsOf(stores, job), {
      bytes: INCLUDED_BYTES,
      bytesOf: stepBytes,
    });
    if (all.last) throw stepsTooLarge();
    read.steps = all.rows.map((step) => steps.view(upToDate(step, job), jobs.staleAfterMs(job)));
  }
  return read;
}

function stepsOf({ steps }: Stores, job: JobDoc, after?: Position): mongo.FindCursor<StepDoc> {
  return steps.collection.find({ job: job._id, ...(after && newerThan(after)) }).sort({ createdAt: 1, _id: 1 });
}

const stepBytes = (step: StepDoc): number => step.output?.length ?? 0;

function stepsTooLarge(): AppError {
  const detail =
    "cannot be had for this job, whose steps are too large for one answer: read them page by page at …/steps";
  return new AppError("invalid_query", { detail: `include ${detail}.`, errors: [{ parameter: "include", detail }] });
}

/** One step. @throws AppError job_not_found, step_not_found, unavailable */
export async function readStep({ jobs, steps }: Stores, jobId: string, stepKey: string): Promise<SingleStepView> {
  const job = await jobs.find(jobId);
  return steps.single(upToDate(await steps.find(job, stepKey), job), jobs.staleAfterMs(job));
}

interface StepListQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The fields of a row, besides stepKey; all of them when absent. */
  readonly fields?: readonly (keyof StepView)[] | undefined;
}

/** A page of a job's steps, oldest first. @throws AppError job_not_found, unavailable */
export async function listSteps(
  stores: Stores,
  jobId: string,
  { limit, cursor, fields }: StepListQuery,
): Promise<{ steps: Partial<StepView>[]; nextCursor: string | null }> {
  const { jobs, steps } = stores;
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const job = await jobs.find(jobId);
  const withoutOutput = fields && !fields.includes("output");
  const find = () => stepsOf(stores, job, after).project<StepDoc>(withoutOutput ? { output: 0 } : {});
  const page = await takePage(stores.steps.collection, find, { limit, bytesOf: stepBytes });
  const rows = page.rows.map((step) =>
    steps.view({ ...upToDate(step, job), output: step.output ?? null }, jobs.staleAfterMs(job)),
  );
  return {
    steps: fields ? rows.map((row) => pick(row, ["stepKey", ...fields])) : rows,
    nextCursor: page.last && encodeCursor(page.last),
  };
}

function newerThan({ createdAt, _id }: Position): mongo.Filter<StepDoc> {
  return { createdAt: { $gte: createdAt }, $or: [{ createdAt: { $gt: createdAt } }, { _id: { $gt: _id } }] };
}

export interface JobListQuery {
  readonly filter: JobFilter;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The fields of a row, besides jobId; all of them when absent. */
  readonly fields?: readonly JobField[] | undefined;
}

const HEAVY = ["input", "metadata", "output"] as const;

/** A page of jobs, newest first by creation. @throws AppError unavailable */
export async function listJobs(
  stores: Stores,
  { filter, limit, cursor, fields }: JobListQuery,
  now: Date,
): Promise<{ jobs: Partial<JobWithStep>[]; nextCursor: string | null }> {
  const { jobs } = stores;
  const query = [
    jobQuery(filter, jobs.staleBy(now)),
    ...(cursor === undefined ? [] : [olderThan(decodeCursor(cursor))]),
  ];
  const wanted = (field: JobField) => !fields || fields.includes(field);
  const projection = Object.fromEntries(
    ["metadataTerms", ...HEAVY.filter((field) => !wanted(field))].map((f) => [f, 0]),
  );
  const find = () => jobs.collection.find<JobDoc>({ $and: query }, { projection }).sort({ createdAt: -1, _id: -1 });
  const bytesOf = (job: JobDoc) => HEAVY.reduce((sum, field) => sum + (job[field]?.length ?? 0), 0);
  const page = await takePage(jobs.collection, find, { limit, bytesOf });
  const rows = await addCurrentSteps(stores, page.rows, wanted("currentStep"));
  return {
    jobs: fields ? rows.map((row) => pick(row, ["jobId", ...fields])) : rows,
    nextCursor: page.last && encodeCursor(page.last),
  };
}

/** Jobs as they are now, each with what lists show of it; those that are gone are missing. @throws AppError unavailable */
export async function readRows(
  stores: Stores,
  jobIds: readonly string[],
): Promise<{ job: JobDoc; row: Omit<JobWithStep, (typeof HEAVY)[number]> }[]> {
  const projection = Object.fromEntries(HEAVY.map((field) => [field, 0]));
  const query = { jobId: { $in: [...jobIds] } };
  const found = await readAll(stores.jobs.collection, query, { projection });
  const rows = await addCurrentSteps(stores, found, true);
  return found.map((job, i) => {
    const { input: _, metadata: __, output: ___, ...row } = rows[i] as JobWithStep;
    return { job, row };
  });
}

/** Those of a job's steps that have one of the keys, without their outputs. @throws AppError unavailable */
export async function readSummaries(
  { jobs, steps }: Stores,
  job: JobDoc,
  keys: readonly string[],
): Promise<StepSummary[]> {
  const query = { jobId: job.jobId, job: job._id, stepKey: { $in: [...keys] } };
  const found = await readAll(steps.collection, query, { projection: { output: 0 } });
  return found.map((step) => steps.summary(upToDate(step, job), jobs.staleAfterMs(job)));
}

async function addCurrentSteps(stores: Stores, page: readonly JobDoc[], wanted: boolean): Promise<JobWithStep[]> {
  const { jobs, steps } = stores;
  const unknown = page.filter(({ currentKnown }) => !currentKnown); // written by an earlier version
  const found = wanted && unknown.length > 0 ? await findCurrentSteps(stores, unknown) : new Map<string, StepDoc>();
  return page.map((job) => {
    const step = wanted && (job.currentKnown ? job.current : found.get(job._id.toHexString()));
    return { ...jobs.view(job), currentStep: step ? summaryOf({ jobs, steps }, job, step) : null };
  });
}

function pick<T extends object, K extends keyof T>(row: T, fields: readonly K[]): Pick<T, K> {
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as Pick<T, K>;
}
