import { AppError } from "../../shared/errors.ts";
import type { Stores } from "../stores.ts";
import { type FreeObject, unpackObject } from "./freeObject.ts";
import type { JobView } from "./job.ts";
import { type JobHead, PAYLOAD_FIELDS, type PayloadField } from "./jobs.ts";
import { isStored, type Payload } from "./payloads.ts";
import type { StepSummary } from "./step.ts";

export interface JobWithStep extends JobView {
  currentStep: StepSummary | null;
}

/** Maximum reads of a job whose payloads are replaced while it is read. */
const MAX_READS = 5;

/** The free object that a payload stands for; undefined for a stored one whose text is not among those given. */
export function unpackPayload(
  payload: Payload | null | undefined,
  texts: ReadonlyMap<string, string>,
): FreeObject | null | undefined {
  if (!isStored(payload)) return unpackObject(payload);
  const text = texts.get(payload.payload.toHexString());
  return text === undefined ? undefined : unpackObject(text);
}

/**
 * Returns jobs as clients read them, in their order.
 * @returns null for a job that was deleted while it was read
 * @throws AppError unavailable
 */
export async function viewJobs(stores: Stores, jobs: readonly JobHead[], reads = 1): Promise<(JobWithStep | null)[]> {
  const refs = jobs.flatMap((job) =>
    PAYLOAD_FIELDS.flatMap((field) => {
      const payload = job[field];
      return isStored(payload) ? [{ jobId: job.jobId, ref: payload }] : [];
    }),
  );
  const texts = await stores.payloads.read(refs);
  return Promise.all(
    jobs.map((job) => {
      const free = Object.fromEntries(PAYLOAD_FIELDS.map((field) => [field, unpackPayload(job[field], texts)]));
      if (Object.values(free).includes(undefined)) return viewAgain(stores, job.jobId, reads);
      const view = stores.jobs.view(job, free as Record<PayloadField, FreeObject | null>);
      return { ...view, currentStep: job.current && stores.jobs.stepSummary(job, job.current) };
    }),
  );
}

/** Reads a job again of which a payload has just been replaced or deleted. */
async function viewAgain(stores: Stores, jobId: string, reads: number): Promise<JobWithStep | null> {
  if (reads === MAX_READS)
    throw new AppError("unavailable", { detail: "The job changes too fast.", retryAfterSeconds: 1 });
  const job = await stores.jobs.find(jobId).catch(ifNotFound);
  return job && ((await viewJobs(stores, [job], reads + 1))[0] ?? null);
}

function ifNotFound(error: unknown): null {
  if (error instanceof AppError && error.code === "job_not_found") return null;
  throw error;
}

/** Some fields of a row. */
export function pick<T extends object, K extends keyof T>(row: T, fields: readonly K[]): Pick<T, K> {
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as Pick<T, K>;
}
