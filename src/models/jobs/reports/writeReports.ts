import type { mongo } from "mongoose";
import { AppError, invalidField } from "../../../shared/errors.ts";
import type { JobDoc, Status } from "../job.ts";
import { type Jobs, jobNotFound } from "../jobs.ts";
import type { PayloadDoc, Payloads } from "../payloads.ts";
import { type StepDoc, stepField } from "../step.ts";
import { type ReportChange, reportFilter, stepPath } from "./reportUpdate.ts";

/** A report with the payloads that must be written for it. */
export interface Report extends ReportChange {
  readonly payloads: readonly PayloadDoc[];
}

/** The step after a report, whether the report created it, and the job's final status if the report ended the job. */
export interface ReportOutcome {
  readonly step: StepDoc;
  readonly created: boolean;
  readonly ended: Status | null;
  /** Whether cancellation of the job was requested before the read for the responses. */
  readonly cancelRequested: boolean;
  /** Stored payloads that the report replaced. */
  readonly replaced: readonly mongo.ObjectId[];
}

/** Limits for a batch of reports. A character takes up to three bytes, and a message is stored in three places. */
export const REPORT_BATCHES = {
  maxBatchSize: 500,
  maxBatchWeight: 8 * 1024 * 1024,
  weightOf: ({ message, payloads }: Report): number =>
    2_000 + 9 * (message?.length ?? 0) + payloads.reduce((sum, { text }) => sum + 3 * text.length, 0),
  keyOf: ({ jobId }: Report): string => jobId,
};

/** The collections that reports change. */
interface ReportStores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
}

/** The fields of a job that show what a report did. */
const OUTCOME = {
  jobId: 1,
  endedBy: 1,
  replaced: 1,
  "cancel.requestedAt": 1,
  "notes.id": 1,
  name: 1,
  createdAt: 1,
  endedAt: 1,
} as const;

type Applied = ReportOutcome | AppError;

/**
 * Applies reports in the order in which they arrived. Each report is one atomic update of its job's document. A batch takes one
 * command, and one read for the responses.
 * @returns the outcome of each report, or the AppError that rejects it: job_not_found, invalid_body (a new step without
 *   stepName), too_many_steps
 * @throws AppError unavailable
 */
export async function writeReports(stores: ReportStores, reports: readonly Report[]): Promise<Applied[]> {
  await stores.payloads.write(reports.flatMap(({ payloads }) => payloads));
  const applied = new Map<Report, Applied>();
  for (let open = reports; open.length > 0; ) {
    const { batch, rest } = takeDistinct(open);
    const results = batch.length > 1 ? await applyBatch(stores, batch) : [];
    for (const [i, report] of batch.entries()) applied.set(report, results[i] ?? (await applyOne(stores, report)));
    open = rest;
  }
  await deleteUnused(stores, applied);
  return reports.map((report) => applied.get(report)!);
}

/**
 * Splits reports into a batch that one command may apply, and the rest. A batch has at most one report on a step, because the
 * response to the first would show the second. Later reports on the same job wait too, which keeps their order.
 */
function takeDistinct(reports: readonly Report[]): { batch: Report[]; rest: Report[] } {
  const batch: Report[] = [];
  const rest: Report[] = [];
  const taken = new Map<string, Set<string>>();
  const waiting = new Set<string>();
  for (const report of reports) {
    const { jobId, stepKey } = report;
    const steps = taken.get(jobId) ?? new Set();
    if (waiting.has(jobId) || steps.has(stepKey)) {
      waiting.add(jobId);
      rest.push(report);
    } else {
      taken.set(jobId, steps.add(stepKey));
      batch.push(report);
    }
  }
  return { batch, rest };
}

/**
 * Updates jobs, and reads what the responses show. `findOneAndUpdate` would save a round trip, but takes MongoDB twice as
 * long for jobs of thousands of steps.
 * @returns null for each report that must be applied again, alone: MongoDB does not return which updates of a batch matched
 *   nothing, and stops at an update that makes a document too large
 */
async function applyBatch(
  { jobs }: ReportStores,
  reports: readonly Report[],
  { isLastAttempt = false } = {},
): Promise<(Applied | null)[]> {
  const { collection } = jobs;
  const updates = reports.map((report) => ({
    updateOne: { filter: reportFilter(report), update: jobs.reportUpdate(report) },
  }));
  const written = await collection.bulkWrite(updates).catch(ifTooLarge);
  const steps = Object.fromEntries(reports.map(({ stepKey }) => [stepPath(stepKey), 1]));
  const query = { jobId: { $in: [...new Set(reports.map(({ jobId }) => jobId))] } };
  const found = await collection.find<JobDoc>(query, { projection: { ...OUTCOME, ...steps } });
  const byId = new Map(found.map((job) => [job.jobId, job]));
  const areAllApplied = written?.matchedCount === reports.length;
  return reports.map((report) => {
    const job = byId.get(report.jobId);
    const step = job && stepOf(job, report);
    if (step && (areAllApplied || step.reportId.equals(report.reportId))) return outcomeOf(jobs, report, job);
    if (reports.length > 1) return null;
    if (!written) return tooManySteps();
    if (!job) return jobNotFound(report.jobId);
    if (!step && report.stepName === undefined)
      return invalidField("stepName", "is required when a report creates a step");
    // The job has no room for the step, unless the job was created between the update and the read.
    return !step && isLastAttempt ? tooManySteps() : null;
  });
}

/** Maximum attempts to apply a report whose job or step another process creates between the update and the read. */
const MAX_ATTEMPTS = 3;

async function applyOne(stores: ReportStores, report: Report): Promise<Applied> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const [applied] = await applyBatch(stores, [report], { isLastAttempt: attempt === MAX_ATTEMPTS });
    if (applied) return applied;
  }
  throw new Error("the report was not applied although its step exists");
}

/** Returns the step of a report. A key such as `constructor` also names an inherited property, which is not a step. */
function stepOf({ steps = {} }: Pick<JobDoc, "steps">, { stepKey }: Report): StepDoc | undefined {
  const field = stepField(stepKey);
  return Object.hasOwn(steps, field) ? steps[field] : undefined;
}

function outcomeOf(jobs: Jobs, report: Report, job: JobDoc): ReportOutcome {
  const { jobId, stepKey, stepId, ends, reportId, output } = report;
  const step = stepOf(job, report)!;
  const ended = ends && job.endedBy?.equals(reportId) ? ends.status : null;
  jobs.notifyReport(jobId, stepKey, ended !== null);
  if (job.notes) jobs.noted();
  if (ended) jobs.countEnded({ ...job, status: ended });
  const cancelRequested = job.cancel !== undefined;
  return { step, created: step.stepId === stepId, ended, cancelRequested, replaced: (output && job.replaced) ?? [] };
}

/** Deletes payloads of rejected reports and payloads that reports replaced. If this fails, the sweep deletes them. */
async function deleteUnused({ payloads }: ReportStores, applied: ReadonlyMap<Report, Applied>): Promise<void> {
  const unused = [...applied].flatMap(([{ jobId, payloads: own }, result]) => {
    const ids = result instanceof AppError ? own.map(({ _id }) => _id) : result.replaced;
    return ids.length > 0 ? [{ jobId, ids }] : [];
  });
  await payloads
    .delete(
      unused.map(({ jobId }) => jobId),
      unused.flatMap(({ ids }) => ids),
    )
    .catch(() => {});
}

function ifTooLarge(error: unknown): null {
  if (error instanceof AppError && error.code === "body_too_large") return null;
  throw error;
}

function tooManySteps(): AppError {
  const detail =
    "The steps of this job take 12 MB without their outputs, which is the maximum. Nothing was written. Report further steps to another job.";
  return new AppError("too_many_steps", { detail });
}
