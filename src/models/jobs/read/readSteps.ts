import { mongo } from "mongoose";
import { AppError } from "../../../shared/errors.ts";
import type { SingleStep, StepSummary, StepView } from "../../../wire/step.ts";
import { decodeCursor, encodeCursor } from "../../db/cursor.ts";
import { PAGE_BYTES } from "../../db/page.ts";
import { type JobDoc, type JobHead, WITHOUT_STEPS } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import { jobNotFound } from "../jobs.ts";
import { lengthOf } from "../payloads/payloads.ts";
import { stepPath } from "../reports/reportUpdate.ts";
import { type StepDoc, singleStep } from "../step.ts";
import { pick, readUntilComplete, unpackPayload } from "./viewJobs.ts";

/** Maximum characters of all outputs of a job in one response, which has no next page. */
const MAX_INCLUDED_LENGTH = 64 * 1024 * 1024;

/** The steps of a job in the order in which they were created, as an expression. */
const ALL_STEPS = { $map: { input: { $objectToArray: { $ifNull: ["$steps", {}] } }, in: "$$this.v" } };

/** The detail of the error that is thrown when reports keep replacing outputs while they are read. */
const TOO_FAST = "The steps changed repeatedly while they were read. Send the same request again.";

type Found<T> = JobHead & T;

/** Reads a job, with one field more for each expression over its steps. @throws AppError job_not_found, unavailable */
async function findWith<T>({ jobs }: JobStores, jobId: string, expressions: mongo.Document): Promise<Found<T>> {
  const pipeline = [{ $match: { jobId } }, { $set: expressions }, { $project: WITHOUT_STEPS }];
  const [job] = await jobs.collection.aggregate<Found<T>>(pipeline);
  if (!job) throw jobNotFound(jobId);
  return job;
}

/**
 * Adds outputs to steps.
 * @returns undefined if a report has replaced one of the outputs since the steps were read
 */
async function viewSteps(stores: JobStores, job: JobHead, steps: readonly StepDoc[]): Promise<StepView[] | undefined> {
  const { jobId } = job;
  const texts = await stores.payloads.read(steps.flatMap(({ output }) => (output ? [{ jobId, ref: output }] : [])));
  const views = steps.map((step) => ({
    ...stores.jobs.stepSummary(job, step),
    output: unpackPayload(step.output, texts),
  }));
  return views.every((view): view is StepView => view.output !== undefined) ? views : undefined;
}

/**
 * Reads a job with one of its steps, with all of them, or with both.
 * @returns `step` is null if the job has no step of that key
 * @throws AppError job_not_found, invalid_query (all steps are too large for one response), unavailable
 */
export function readJobWithSteps(
  stores: JobStores,
  jobId: string,
  { stepKey, withSteps }: { stepKey: string | undefined; withSteps: boolean },
): Promise<{ job: JobHead; step?: SingleStep | null; steps?: StepView[] }> {
  const expressions = {
    ...(stepKey !== undefined && { wanted: `$${stepPath(stepKey)}` }),
    ...(withSteps && { all: ALL_STEPS }),
  };
  const read = async () => {
    const {
      wanted,
      all = [],
      ...job
    } = await findWith<{ wanted?: StepDoc; all?: StepDoc[] }>(stores, jobId, expressions);
    if (all.reduce((sum, { output }) => sum + lengthOf(output), 0) > MAX_INCLUDED_LENGTH) throw stepsTooLarge();
    const views = await viewSteps(stores, job, [...all, ...(wanted ? [wanted] : [])]);
    if (!views) return undefined;
    const step = wanted ? singleStep(views.at(-1)!, wanted) : null;
    return { job, ...(stepKey !== undefined && { step }), ...(withSteps && { steps: views.slice(0, all.length) }) };
  };
  return readUntilComplete(read, TOO_FAST);
}

function stepsTooLarge(): AppError {
  const detail =
    "must be left out for this job, because its steps are too large for one response: read them in pages with GET /api/jobs/{jobId}/steps";
  return new AppError("invalid_query", { detail: `include ${detail}.`, errors: [{ parameter: "include", detail }] });
}

/** Returns the last steps of a job in the order of their creation, and the number of all. @throws AppError job_not_found, unavailable */
export async function lastSteps(
  stores: JobStores,
  jobId: string,
  limit: number,
): Promise<{ steps: StepDoc[]; count: number }> {
  const expressions = { last: { $slice: [ALL_STEPS, -limit] }, count: { $size: ALL_STEPS } };
  const { last, count } = await findWith<{ last: StepDoc[]; count: number }>(stores, jobId, expressions);
  return { steps: last, count };
}

/** Reads one step. @throws AppError job_not_found, step_not_found, unavailable */
export async function readStep(stores: JobStores, jobId: string, stepKey: string): Promise<SingleStep> {
  const { step } = await readJobWithSteps(stores, jobId, { stepKey, withSteps: false });
  if (step) return step;
  throw new AppError("step_not_found", {
    detail: `The job ${JSON.stringify(jobId)} has no step ${JSON.stringify(stepKey)}.`,
  });
}

interface StepListQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The steps with one of these states; all without it. */
  readonly status?: readonly StepDoc["status"][] | undefined;
  /** The fields of a row besides stepKey. Without it, a row has all fields. */
  readonly fields?: readonly (keyof StepView)[] | undefined;
}

/** Returns a page of a job's steps, oldest first. @throws AppError job_not_found, unavailable */
export function listSteps(
  stores: JobStores,
  jobId: string,
  { limit, cursor, status, fields }: StepListQuery,
): Promise<{ steps: Partial<StepView>[]; nextCursor: string | null }> {
  const from = cursor === undefined ? 0 : indexOfCursor(cursor);
  const withOutput = !fields || fields.includes("output");
  const expressions = { page: pageOf(from, limit + 1, status) };
  const read = async () => {
    const { page, ...job } = await findWith<{ page: [step: StepDoc, index: number][] }>(stores, jobId, expressions);
    const docs = page.map(([step]) => (withOutput ? step : { ...step, output: null }));
    const rows = takeRows(docs, limit);
    const steps = await viewSteps(stores, job, rows);
    if (!steps) return undefined;
    const next = page[rows.length];
    return {
      steps: fields ? steps.map((step) => pick(step, ["stepKey", ...fields])) : steps,
      nextCursor: next ? stepCursor(rows.at(-1)!, next[1]) : null,
    };
  };
  return readUntilComplete(read, TOO_FAST);
}

/** Returns the expression of a page of steps with their indexes among all: `[[step, 4], [step, 7], …]`. */
function pageOf(from: number, length: number, status: StepListQuery["status"]): mongo.Document {
  const indexed = { $zip: { inputs: [ALL_STEPS, { $range: [0, { $size: ALL_STEPS }] }] } };
  if (!status) return { $slice: [indexed, from, length] };
  const [step, index] = [0, 1].map((at) => ({ $arrayElemAt: ["$$this", at] }));
  const hasStatus = { $in: [{ $getField: { field: "status", input: step } }, [...status]] };
  return { $filter: { input: indexed, cond: { $and: [{ $gte: [index, from] }, hasStatus] }, limit: length } };
}

/** Takes rows up to the limit, and none after the row that exceeds `PAGE_BYTES`. */
function takeRows(page: readonly StepDoc[], limit: number): StepDoc[] {
  let length = 0;
  const fits = page.slice(0, limit).findIndex(({ output }) => {
    length += lengthOf(output);
    return length > PAGE_BYTES;
  });
  return page.slice(0, fits === -1 ? limit : fits + 1);
}

/** Returns a cursor in the format of other lists. Its internal id encodes the index of the next step. */
const stepCursor = ({ createdAt }: StepDoc, index: number): string =>
  encodeCursor({ createdAt, _id: new mongo.ObjectId(index.toString(16).padStart(24, "0")) });

/** More than the number of steps that fit into a job's 12 MB. */
const MAX_INDEX = 10_000_000;

/** Returns the index of the next step; 0 for the cursor of another list, so that no step is left out. */
function indexOfCursor(cursor: string): number {
  const index = Number.parseInt(decodeCursor(cursor)._id.toHexString(), 16);
  return index <= MAX_INDEX ? index : 0;
}

/** The fields of a job that decide whether its steps are stale. */
const STALENESS = { jobId: 1, staleAfterSeconds: 1, openGates: 1, resumedAt: 1 } as const;

/**
 * Reads given steps of several jobs, without their outputs.
 * @param wanted the keys of the steps by jobId
 * @returns the steps by jobId, without those that no longer exist
 */
export async function readStepSummaries(
  { jobs }: JobStores,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Map<string, StepSummary[]>> {
  if (wanted.size === 0) return new Map();
  const paths = new Set([...wanted.values()].flatMap((keys) => [...keys].map(stepPath)));
  const projection = { ...STALENESS, ...Object.fromEntries([...paths].map((path) => [path, 1])) };
  const found = await jobs.collection.find<JobDoc>({ jobId: { $in: [...wanted.keys()] } }, { projection });
  return new Map(
    found.map((job) => {
      const steps = Object.values(job.steps ?? {}).filter(({ stepKey }) => wanted.get(job.jobId)?.has(stepKey));
      return [job.jobId, steps.map((step) => jobs.stepSummary(job, step))];
    }),
  );
}
