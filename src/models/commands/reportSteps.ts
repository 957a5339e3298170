import { AppError } from "../../shared/errors.ts";
import { type JobEffect, jobNotFound, type Status } from "../job.ts";
import { currentAfter, type JobState, toCurrent } from "../reportedJob.ts";
import type { StepState } from "../reportedStep.ts";
import { type StepChange, stepName } from "../step.ts";
import type { Stores } from "../stores.ts";
import { findCurrentSteps } from "./currentSteps.ts";

/** One report, judged already: what it says of the step, and what that does to the job. */
export interface JudgedReport {
  readonly jobId: string;
  readonly stepKey: string;
  readonly change: StepChange;
  readonly effect: JobEffect;
}

/** What became of a report: the step after it, whether it is new, and the status that the job ended in by it, if it did. */
export interface ReportOutcome {
  readonly step: StepState;
  readonly created: boolean;
  readonly ended: Status | null;
}

/** A batch is one write of a few megabytes at most. */
export const REPORTS_TOGETHER = {
  most: 500,
  mostWeight: 8 * 1024 * 1024,
  weightOf: ({ change: { output, message } }: JudgedReport): number =>
    1_000 + (message?.length ?? 0) + 2 * (output?.length ?? 0),
  atOnce: 3,
  keyOf: ({ jobId }: JudgedReport): string => jobId,
};

type Stored = Pick<Stores, "jobs" | "steps">;

/** Of the same records, another process may be faster so many times in a row. */
const MOST_ROUNDS = 25;

interface Entry {
  readonly report: JudgedReport;
  readonly name: string;
  job: JobState | null;
  step: StepState | null;
  created: boolean;
  ended: Status | null;
  error: Error | null;
}

/**
 * Writes reports in the order in which they came: first all steps, then all jobs, each record once however many reports
 * are about it, and only where nobody has changed it since it was read. A process that dies between the two leaves nothing
 * that the same reports, sent again, do not put right.
 * @returns for each of them what became of it, or why it fails: AppError job_not_found, invalid_body (a new step without
 *   stepName), body_too_large
 * @throws AppError unavailable; what is wrong with a record that cannot be written
 */
export async function reportSteps(
  stores: Stored,
  reports: readonly JudgedReport[],
): Promise<(ReportOutcome | Error)[]> {
  const jobs = await stores.jobs.findForReports(unique(reports.map(({ jobId }) => jobId)));
  const entries = reports.map((report): Entry => {
    const job = jobs.get(report.jobId) ?? null;
    const name = stepName(report.jobId, report.stepKey);
    return {
      report,
      name,
      job,
      step: null,
      created: false,
      ended: null,
      error: job ? null : jobNotFound(report.jobId),
    };
  });
  await writeSteps(stores, entries);
  await writeJobs(stores, jobs, entries);
  return entries.map(({ error, step, created, ended }) => error ?? { step: step as StepState, created, ended });
}

/** Applies each report to its step as that is now, until nobody comes between the reading and the writing. */
async function writeSteps({ steps }: Stored, all: readonly Entry[]): Promise<void> {
  let open = all.filter(({ error }) => !error);
  for (let round = 1; open.length > 0; round++) {
    if (round > MOST_ROUNDS) throw contended();
    const before = await steps.findForReports(open.map(refOf));
    const after = new Map(before);
    for (const entry of open) {
      const { name, report, job } = entry;
      try {
        entry.step = steps.reported(after.get(name) ?? null, job as JobState, report.stepKey, report.change);
        entry.created = !after.has(name);
        after.set(name, entry.step);
      } catch (error) {
        entry.error = error as Error;
      }
    }
    const changed = [...after].flatMap(([name, is]) => {
      const was = before.get(name) ?? null;
      return is === was ? [] : [{ was, is }];
    });
    const missed = await steps.write(changed);
    open = open.filter(({ error, step }) => !error && missed.has((step as StepState)._id.toHexString()));
  }
}

/** Lets the reports take effect on their jobs, in the same way. */
async function writeJobs(stores: Stored, found: ReadonlyMap<string, JobState>, all: readonly Entry[]): Promise<void> {
  let open = Map.groupBy(
    all.filter(({ error }) => !error),
    ({ report }) => report.jobId,
  );
  for (let round = 1; open.size > 0; round++) {
    if (round > MOST_ROUNDS) throw contended();
    const isAgain = round > 1;
    const jobs = isAgain ? await stores.jobs.findForReports([...open.keys()]) : found;
    const steps = isAgain ? await stores.steps.findForReports([...open.values()].flat().map(refOf)) : undefined;
    const changed: { was: JobState; is: JobState }[] = [];
    for (const [jobId, entries] of open) {
      const was = jobs.get(jobId);
      if (!was?._id.equals(jobOf(entries)._id)) await forget(stores, entries);
      else {
        // others may have reported on the steps meanwhile: which of them is current is for what they are now to say
        const reported = new Map(entries.map(({ name, step }) => [name, steps?.get(name) ?? (step as StepState)]));
        const current = currentAfter(was, [...reported.values()]);
        changed.push({
          was,
          is: { ...jobAfter(stores, was, entries), currentKnown: current !== undefined, current: current ?? null },
        });
      }
    }
    await findCurrent(
      stores,
      changed.map(({ is }) => is).filter(({ currentKnown }) => !currentKnown),
    );
    const missed = await stores.jobs.write(changed);
    open = new Map([...open].filter(([jobId]) => missed.has(jobId)));
  }
}

function jobAfter({ jobs }: Stored, was: JobState, entries: readonly Entry[]): JobState {
  let job = was;
  for (const entry of entries) {
    const { change, effect } = entry.report;
    // A failed job takes the step's message, also one that an earlier report left there.
    const message =
      change.message ?? (effect.ends?.status === "failed" ? (entry.step?.message ?? undefined) : undefined);
    entry.ended = effect.ends && effect.ends.status !== job.status ? effect.ends.status : null;
    job = jobs.reported(job, { ...effect, message });
  }
  return job;
}

async function findCurrent({ jobs, steps }: Stored, unknown: readonly JobState[]): Promise<void> {
  if (unknown.length === 0) return;
  const found = await findCurrentSteps({ jobs, steps }, unknown);
  for (const job of unknown) {
    const step = found.get(job._id.toHexString());
    Object.assign(job, { currentKnown: true, current: step ? toCurrent(step) : null });
  }
}

/** The job was deleted in this moment: what was written of its steps goes with it. */
async function forget({ steps }: Stored, entries: readonly Entry[]): Promise<void> {
  await steps.deleteOf([jobOf(entries)]);
  for (const entry of entries) entry.error = jobNotFound(entry.report.jobId);
}

/** All of them are about one job. */
const jobOf = ([first]: readonly Entry[]): JobState => first?.job as JobState;

const refOf = ({ job, report }: Entry) => ({ job: job as JobState, stepKey: report.stepKey });

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

const contended = () =>
  new AppError("unavailable", {
    detail: "Too many processes report on the same job at once. Send the same request again.",
    retryAfterSeconds: 1,
  });
