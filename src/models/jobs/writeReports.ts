import type { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";
import type { JobDoc, Status } from "./job.ts";
import { type Jobs, jobNotFound } from "./jobs.ts";
import type { PayloadDoc, Payloads } from "./payloads.ts";
import { type ReportChange, reportFilter, stepPath } from "./reportUpdate.ts";
import { type StepDoc, stepField } from "./step.ts";

/** A report with the payloads that it refers to. */
export interface Report extends ReportChange {
  readonly payloads: readonly PayloadDoc[];
}

/** The step after a report, whether the report created it, and the status in which the report ended the job, if it did. */
export interface ReportOutcome {
  readonly step: StepDoc;
  readonly created: boolean;
  readonly ended: Status | null;
  /** Stored payloads that nothing refers to any more. */
  readonly replaced: readonly mongo.ObjectId[];
}

/** Limits for one batch of reports. A character takes up to three bytes; a message is stored in three places. */
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

/** The fields of a job that tell what a report did. */
const OUTCOME = { jobId: 1, endedBy: 1, replaced: 1 } as const;

type Applied = ReportOutcome | AppError;

/**
 * Applies reports in the order in which they arrived. Each is one atomic update of its job's document; a batch is one command
 * and one read for the answers.
 * @returns for each report its outcome, or the error that refuses it: AppError job_not_found, invalid_body (a new step
 *   without stepName), too_many_steps
 * @throws AppError unavailable
 */
export async function writeReports(stores: ReportStores, reports: readonly Report[]): Promise<Applied[]> {
  await stores.payloads.write(reports.flatMap(({ payloads }) => payloads));
  const applied = new Map<Report, Applied>();
  for (let open = reports; open.length > 0; ) {
    const { batch, rest } = takeDistinct(open);
    const results = batch.length > 1 ? await applyTogether(stores, batch) : [await applyAlone(stores, batch[0]!)];
    for (const [i, report] of batch.entries()) applied.set(report, results[i]!);
    open = rest;
  }
  await deleteUnused(stores, applied);
  return reports.map((report) => applied.get(report)!);
}

/**
 * Takes reports that one command may apply. Two on one step may not be among them: the answer to the first would show the
 * second. What follows such a report on the same job waits too, which keeps their order.
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

/** Maximum attempts to apply a report whose step another process creates between the update and the read. */
const MAX_ATTEMPTS = 3;

/**
 * Updates jobs and reads what the answers show. An update that returns the document as well would save a round trip, but
 * MongoDB takes twice as long for it where a job has thousands of steps.
 */
async function apply({ jobs }: ReportStores, reports: readonly Report[]) {
  const { collection } = jobs;
  const updates = reports.map((report) => ({
    updateOne: { filter: reportFilter(report), update: jobs.reportUpdate(report) },
  }));
  const written = await mapMongoErrors(() => collection.bulkWrite(updates)).catch(ifTooLarge);
  const steps = Object.fromEntries(reports.map(({ stepKey }) => [stepPath(stepKey), 1]));
  const query = { jobId: { $in: [...new Set(reports.map(({ jobId }) => jobId))] } };
  const found = await readAll<JobDoc, JobDoc>(collection, query, { projection: { ...OUTCOME, ...steps } });
  return {
    isTooLarge: written === "too large",
    areAllApplied: written !== "too large" && written.matchedCount === reports.length,
    found: new Map(found.map((job) => [job.jobId, job])),
  };
}

async function applyTogether(stores: ReportStores, reports: readonly Report[]): Promise<Applied[]> {
  const { areAllApplied, found } = await apply(stores, reports);
  const results: Applied[] = [];
  for (const report of reports) {
    const job = found.get(report.jobId);
    const step = job && stepOf(job, report);
    const isApplied = step && (areAllApplied || step.reportId?.equals(report.reportId));
    // MongoDB does not say which of the updates matched nothing, and stops at one that makes a document too large.
    results.push(isApplied ? outcomeOf(stores.jobs, report, job) : await applyAlone(stores, report));
  }
  return results;
}

async function applyAlone(stores: ReportStores, report: Report): Promise<Applied> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { isTooLarge, areAllApplied, found } = await apply(stores, [report]);
    if (isTooLarge) return tooManySteps();
    const job = found.get(report.jobId);
    if (!job) return jobNotFound(report.jobId);
    const step = stepOf(job, report);
    if (step && areAllApplied) return outcomeOf(stores.jobs, report, job);
    if (!step) return report.stepName === undefined ? stepNameRequired() : tooManySteps();
  }
  throw new Error("a report is not applied, though its step exists");
}

const stepOf = ({ steps }: Pick<JobDoc, "steps">, { stepKey }: Report): StepDoc | undefined =>
  steps?.[stepField(stepKey)];

function outcomeOf(jobs: Jobs, report: Report, job: JobDoc): ReportOutcome {
  const { jobId, stepKey, stepId, ends, reportId, output } = report;
  const step = stepOf(job, report)!;
  const ended = ends && job.endedBy?.equals(reportId) ? ends.status : null;
  jobs.notifyReport(jobId, stepKey, ended !== null);
  return { step, created: step.stepId === stepId, ended, replaced: (output && job.replaced) ?? [] };
}

/** Deletes what refused reports brought, and what others replaced. The sweep deletes what is left here. */
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

function ifTooLarge(error: unknown): "too large" {
  if (error instanceof AppError && error.code === "body_too_large") return "too large";
  throw error;
}

function stepNameRequired(): AppError {
  const detail = "is required in the report that creates the step";
  return new AppError("invalid_body", { detail: `stepName ${detail}.`, errors: [{ pointer: "/stepName", detail }] });
}

function tooManySteps(): AppError {
  const detail =
    "The steps of this job take 12 MB, outputs apart, which is the maximum. Nothing was written. Report further steps on another job.";
  return new AppError("too_many_steps", { detail });
}
