import { AppError } from "../../../shared/errors.ts";
import type { JobView, Usual } from "../../../wire/job.ts";
import { NO_COUNTS } from "../children.ts";
import { type FreeObject, unpackObject } from "../freeObject.ts";
import type { JobHead } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import { PAYLOAD_FIELDS, type PayloadField } from "../payloads/payloadFields.ts";
import { isStored, type Payload } from "../payloads/payloads.ts";

/** Maximum reads of a record whose payloads are replaced while it is read. Reaching it takes as many reports in a row. */
const MAX_READS = 5;

/**
 * Repeats a read of a record and its payloads until no payload is missing. One is missing if a report has replaced it between
 * the two reads.
 * @param read returns undefined if a payload was missing
 * @param detail the detail of the error that is thrown after `maxReads` reads
 */
export async function readUntilComplete<T>(
  read: () => Promise<T | undefined>,
  detail: string,
  maxReads = MAX_READS,
): Promise<T> {
  for (let reads = 1; reads <= maxReads; reads++) {
    const complete = await read();
    if (complete !== undefined) return complete;
  }
  throw new AppError("unavailable", { detail, retryAfterSeconds: 1 });
}

/** Returns the free object of a payload, or undefined if the payload is stored and its text is not in `texts`. */
export function unpackPayload(
  payload: Payload | null | undefined,
  texts: ReadonlyMap<string, string>,
): FreeObject | null | undefined {
  if (!isStored(payload)) return unpackObject(payload);
  const text = texts.get(payload.payload.toHexString());
  return text === undefined ? undefined : unpackObject(text);
}

/**
 * Returns jobs as clients read them, in the order given.
 * @param freshUsual whether usual durations are read again rather than taken from the cache of this process
 * @returns null for each job that was deleted while it was read
 */
export async function viewJobs(
  stores: JobStores,
  jobs: readonly JobHead[],
  freshUsual = false,
): Promise<(JobView | null)[]> {
  const [texts, usual, counts] = await Promise.all([
    readTexts(stores, jobs),
    stores.jobs.usual.read(
      jobs.map(({ name }) => name),
      freshUsual,
    ),
    Promise.all(jobs.map((job) => stores.jobs.children.count(job))),
  ]);
  return Promise.all(
    jobs.map(async (job, i) => {
      const view = viewWith(stores, job, texts, usual.get(job.name) ?? null) ?? (await viewAgain(stores, job.jobId));
      return view && { ...view, children: counts[i] ?? NO_COUNTS };
    }),
  );
}

type ChildlessView = Omit<JobView, "children">;

/** Reads the texts of all payloads that jobs refer to. */
function readTexts(stores: JobStores, jobs: readonly JobHead[]): Promise<ReadonlyMap<string, string>> {
  const refs = jobs.flatMap((job) =>
    PAYLOAD_FIELDS.flatMap((field) => {
      const payload = job[field];
      return isStored(payload) ? [{ jobId: job.jobId, ref: payload }] : [];
    }),
  );
  return stores.payloads.read(refs);
}

/** Returns undefined if the text of a payload is missing. */
function viewWith(
  stores: JobStores,
  job: JobHead,
  texts: ReadonlyMap<string, string>,
  usual: Usual | null,
): ChildlessView | undefined {
  const free = Object.fromEntries(PAYLOAD_FIELDS.map((field) => [field, unpackPayload(job[field], texts)]));
  if (Object.values(free).includes(undefined)) return undefined;
  const view = stores.jobs.view(job, free as Record<PayloadField, FreeObject | null>, usual);
  return { ...view, currentStep: job.current && stores.jobs.stepSummary(job, job.current) };
}

/** Reads a job again after its first read found a payload missing. */
function viewAgain(stores: JobStores, jobId: string): Promise<ChildlessView | null> {
  const read = async () => {
    const job = await stores.jobs.find(jobId).catch(ifNotFound);
    if (!job) return null;
    const [texts, usual] = await Promise.all([readTexts(stores, [job]), stores.jobs.usual.read([job.name])]);
    return viewWith(stores, job, texts, usual.get(job.name) ?? null);
  };
  return readUntilComplete(
    read,
    "The job changed repeatedly while it was read. Send the same request again.",
    MAX_READS - 1,
  );
}

function ifNotFound(error: unknown): null {
  if (error instanceof AppError && error.code === "job_not_found") return null;
  throw error;
}

/** Returns a row with only the fields given. */
export function pick<T extends object, K extends keyof T>(row: T, fields: readonly K[]): Pick<T, K> {
  return Object.fromEntries(fields.map((field) => [field, row[field]])) as Pick<T, K>;
}
