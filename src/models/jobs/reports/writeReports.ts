import type { mongo } from "mongoose";
import { AppError, invalidField } from "../../../shared/errors.ts";
import { partFailure, TOO_LARGE } from "../../db/mongoErrors.ts";
import type { JobDoc, Status } from "../job.ts";
import { type Jobs, jobNotFound } from "../jobs.ts";
import { linksLength } from "../link.ts";
import type { Payloads } from "../payloads/payloads.ts";
import { RUN_TIMES } from "../runTime.ts";
import { type StepDoc, stepField } from "../step.ts";
import { foldReports } from "./foldReports.ts";
import { NO_ROOM, type Report, reportFilter, stepPath } from "./reportUpdate.ts";

/** The step after a report, whether the report created it, and the job's final status if the report ended the job. */
export interface ReportOutcome {
  /** The internal id of the job. */
  readonly job: mongo.ObjectId;
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
  weightOf: ({ message, links, payloads }: Report): number =>
    2_000 +
    9 * ((message?.length ?? 0) + linksLength(links)) +
    payloads.reduce((sum, { text }) => sum + 3 * text.length, 0),
  keyOf: ({ jobId }: Report): string => jobId,
};

/** The collections that reports change. */
interface ReportStores {
  readonly jobs: Jobs;
  readonly payloads: Payloads;
}

/** The fields of a job that show what a report did. */
const OUTCOME_FIELDS = {
  jobId: 1,
  parentJobId: 1,
  endedBy: 1,
  replaced: 1,
  "cancel.requestedAt": 1,
  "notes.id": 1,
  name: 1,
  ...RUN_TIMES,
} as const;

type Applied = ReportOutcome | AppError;

/**
 * Applies reports in the order in which they arrived. Each report is one atomic update of its job's document, or shares it with
 * reports that `foldReports` folds. A batch takes one command, and one read for the responses, which show each step as it is
 * after the batch; a report that is applied alone takes two more.
 * @returns the outcome of each report, or the AppError that rejects it: job_not_found, invalid_body (a new step without
 *   stepName), too_many_steps
 */
export async function writeReports(stores: ReportStores, reports: readonly Report[]): Promise<Applied[]> {
  await stores.payloads.write(reports.flatMap(({ payloads }) => payloads));
  const folded = foldReports(reports);
  const updates = folded.map(({ report }) => report);
  // A single update, and each whose effect the batch does not show, is applied alone.
  const fromBatch = updates.length > 1 ? await applyBatch(stores.jobs, updates) : [];
  const applied = new Map<Report, Applied>();
  for (const [i, { report, members }] of folded.entries()) {
    const result = fromBatch[i] ?? (await applyAlone(stores.jobs, report));
    // Only the first member can have created the step.
    const later = result instanceof AppError ? result : { ...result, created: false };
    for (const [place, member] of members.entries()) applied.set(member, place === 0 ? result : later);
  }
  await deleteUnused(stores, applied);
  return reports.map((report) => applied.get(report)!);
}

/**
 * Applies reports in one batch.
 * @returns null for each report that must be applied again, alone: MongoDB does not return which updates of a batch matched
 *   nothing
 */
async function applyBatch(jobs: Jobs, reports: readonly Report[]): Promise<(Applied | null)[]> {
  const { matchedCount, withoutRoom, found } = await write(jobs, reports);
  const others = reports.filter((report) => !withoutRoom.has(report));
  const effects = matchedCount === others.length ? undefined : effectsOf(others, found, matchedCount);
  return reports.map((report) => {
    if (withoutRoom.has(report)) return tooManySteps();
    const effect = effects?.get(report) ?? "applied";
    if (effect === "rejected") return withoutStepName();
    const job = found.get(report.jobId);
    return effect === "applied" && job && stepOf(job, report) ? announceOutcome(jobs, report, job) : null;
  });
}

/**
 * The effect of a report of a batch. `applied`: its update matched. `rejected`: it had no stepName, and its step did not exist
 * yet. `unknown`: the jobs do not show which, so that it is applied again, alone.
 */
type Effect = "applied" | "rejected" | "unknown";

/**
 * Returns the effect of each report of a batch in which some updates matched nothing, as far as the jobs show it. For example
 * the reports A, B and C are on one step, and B creates it. If the step shows C as its newest report, B and C are applied, and A is
 * rejected if it had no stepName. If the step shows B, C is unknown and is applied again, alone; reports are idempotent.
 */
function effectsOf(
  reports: readonly Report[],
  found: ReadonlyMap<string, JobDoc>,
  matchedCount: number,
): ReadonlyMap<Report, Effect> {
  const effects = new Map<Report, Effect>();
  const presumed = new Set<Report>();
  for (const group of Map.groupBy(reports, ({ jobId, stepKey }) => JSON.stringify([jobId, stepKey])).values()) {
    const [first] = group as [Report];
    const job = found.get(first.jobId);
    const step = job && stepOf(job, first);
    const creator = group.findIndex(({ stepId }) => stepId === step?.stepId);
    const newest = group.findLastIndex(({ reportId }) => step?.reportId.equals(reportId));
    for (const [i, report] of group.entries()) {
      if (i > newest) effects.set(report, "unknown");
      else if (i < creator) effects.set(report, report.stepName === undefined ? "rejected" : "unknown");
      else effects.set(report, "applied");
      if (i < newest && creator === -1) presumed.add(report);
    }
  }
  // Without a creator among the reports the step existed before them, unless another process created it meanwhile.
  const count = [...effects.values()].filter((effect) => effect === "applied").length;
  if (count !== matchedCount) for (const report of presumed) effects.set(report, "unknown");
  return effects;
}

/** Maximum attempts to apply a report whose job or step another process creates between the update and the read. */
const MAX_ATTEMPTS = 3;

async function applyAlone(jobs: Jobs, report: Report): Promise<Applied> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { matchedCount, withoutRoom, found } = await write(jobs, [report]);
    const job = found.get(report.jobId);
    const step = job && stepOf(job, report);
    if (step && (matchedCount === 1 || step.reportId.equals(report.reportId)))
      return announceOutcome(jobs, report, job);
    if (withoutRoom.has(report)) return tooManySteps();
    if (!job) return jobNotFound(report.jobId, "Create it before its first report.");
    if (!step && report.stepName === undefined) return withoutStepName();
  }
  throw new Error("the report was not applied although its job exists");
}

interface Written {
  /** The number of updates that matched. */
  readonly matchedCount: number;
  /** The reports whose job has no room for them. */
  readonly withoutRoom: ReadonlySet<Report>;
  /** The jobs with the steps of the reports. */
  readonly found: ReadonlyMap<string, JobDoc>;
}

/**
 * Updates jobs, and reads what the responses show. `findOneAndUpdate` would save a round trip, but takes MongoDB twice as
 * long for jobs of thousands of steps.
 */
async function write(jobs: Jobs, reports: readonly Report[]): Promise<Written> {
  const withOutput = new Set<string>();
  const updates = reports.map((report) => {
    const addsReplaced = withOutput.has(report.jobId);
    if (report.output) withOutput.add(report.jobId);
    return { updateOne: { filter: reportFilter(report), update: jobs.reportUpdate(report, { addsReplaced }) } };
  });
  // An unordered command goes on after an update that fails, and still applies the updates of one document in their order.
  const written = await jobs.collection.bulkWrite(updates, { ordered: false }).then(allApplied, ifNoRoom);
  const steps = Object.fromEntries(reports.map(({ stepKey }) => [stepPath(stepKey), 1]));
  const query = { jobId: { $in: [...new Set(reports.map(({ jobId }) => jobId))] } };
  const found = await jobs.collection.find<JobDoc>(query, { projection: { ...OUTCOME_FIELDS, ...steps } });
  return {
    matchedCount: written.matchedCount,
    withoutRoom: new Set(written.failed.map((i) => reports[i]!)),
    found: new Map(found.map((job) => [job.jobId, job])),
  };
}

/** Returns the step of a report. A key such as `constructor` also names an inherited property, which is not a step. */
function stepOf({ steps = {} }: Pick<JobDoc, "steps">, { stepKey }: Report): StepDoc | undefined {
  const field = stepField(stepKey);
  return Object.hasOwn(steps, field) ? steps[field] : undefined;
}

/**
 * Returns the outcome of an applied report, after notifying readers of live events, the dispatch of notifications and the
 * counters of ended jobs.
 * @param job as it is after the report
 */
function announceOutcome(jobs: Jobs, report: Report, job: JobDoc): ReportOutcome {
  const { stepKey, stepId, ends, reportId, output } = report;
  const step = stepOf(job, report)!;
  const ended = ends && job.endedBy?.equals(reportId) ? ends.status : null;
  jobs.notifyReport(job, stepKey, ended !== null);
  if (job.notes) jobs.noted();
  if (ended) jobs.countEnded({ ...job, status: ended });
  const cancelRequested = job.cancel !== undefined;
  const replaced = (output && job.replaced) ?? [];
  return { job: job._id, step, created: step.stepId === stepId, ended, cancelRequested, replaced };
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

const allApplied = ({ matchedCount }: mongo.BulkWriteResult) => ({ matchedCount, failed: [] as number[] });

/** Returns the result of a bulk write of which updates failed for want of room in their documents. @throws other errors */
function ifNoRoom(thrown: unknown): ReturnType<typeof allApplied> {
  const error = partFailure(thrown);
  if (!error) throw thrown;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || errors.some(({ code }) => code !== NO_ROOM && !TOO_LARGE.has(code))) throw thrown;
  return { matchedCount: error.matchedCount, failed: errors.map(({ index }) => index) };
}

const withoutStepName = (): AppError => invalidField("stepName", "is required when a report creates a step");

function tooManySteps(): AppError {
  const detail =
    "The steps of this job take 12 MB without their outputs, which is the maximum. Nothing was written. Report further steps to another job.";
  return new AppError("too_many_steps", { detail });
}
