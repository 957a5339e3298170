import { setTimeout } from "node:timers/promises";
import { AppError } from "../../shared/errors.ts";
import type { JobEffect, Status } from "../job.ts";
import { type JobWrite, jobNotFound } from "../jobs.ts";
import { currentAfter, type JobState, toCurrent, upToDate } from "../reportedJob.ts";
import type { StepState, StoredStep } from "../reportedStep.ts";
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

/**
 * A batch is one update of MongoDB's, which may have 16 MiB. A character is three bytes at most, and a message is kept by the job
 * and by its current step.
 */
export const REPORTS_TOGETHER = {
  most: 500,
  mostWeight: 8 * 1024 * 1024,
  weightOf: ({ change: { output, message } }: JudgedReport): number =>
    2_000 + 6 * (message?.length ?? 0) + 3 * (output?.length ?? 0),
  keyOf: ({ jobId }: JudgedReport): string => jobId,
  actsFirst: true,
};

type Stored = Pick<Stores, "jobs" | "steps">;

/** Of the same records, other processes may be faster so many times in a row. */
const MOST_ROUNDS = 50;
/** After so many there is a pause, of random length, since several that go on at once go on being in each other's way. */
const ROUNDS_AT_ONCE = 3;

interface Entry {
  readonly report: JudgedReport;
  /** The job as it was first read. */
  job: JobState | null;
  step: StepState | null;
  created: boolean;
  ended: Status | null;
  error: Error | null;
}

/** What reports make of a job, and the steps that are to be written first. */
interface Change extends JobWrite {
  readonly steps: readonly { readonly was: StoredStep | null; readonly is: StepState }[];
}

/**
 * Writes reports in the order in which they came: first the steps, then all jobs, each record once however many reports
 * are about it, and only where nobody has reported on it since it was read. What is said of a job's current step, as long as
 * it runs on, is written with the job alone. A process that dies in the middle leaves nothing that the same reports, sent
 * again, do not put right.
 * @returns for each of them what became of it, or why it fails: AppError job_not_found, invalid_body (a new step without
 *   stepName), body_too_large
 * @throws AppError unavailable; what is wrong with a record that cannot be written
 */
export async function reportSteps(
  stores: Stored,
  reports: readonly JudgedReport[],
): Promise<(ReportOutcome | Error)[]> {
  const entries = reports.map((report): Entry => {
    return { report, job: null, step: null, created: false, ended: null, error: null };
  });
  const byJob = Map.groupBy(entries, ({ report }) => report.jobId);
  const known = new Map([...byJob].filter(([jobId, about]) => isKnown(stores.jobs.known(jobId), about)));
  const unknown = new Map([...byJob].filter(([jobId]) => !known.has(jobId)));
  const writeKnown = async () => writeRead(stores, await writeAsKnown(stores, known));
  // what one of them fails with is told when the other is over too: the same reports may be sent again then
  const ends = await Promise.allSettled([writeKnown(), writeRead(stores, unknown)]);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return entries.map(({ error, step, created, ended }) => error ?? { step: step as StepState, created, ended });
}

type ByJob = ReadonlyMap<string, readonly Entry[]>;

const only = (byJob: ByJob, jobIds: ReadonlySet<string>): ByJob =>
  new Map([...byJob].filter(([jobId]) => jobIds.has(jobId)));

const isKnown = (job: JobState | undefined, entries: readonly Entry[]): boolean =>
  job !== undefined && staysCurrent(job, entries);

/** Writes to jobs as this process has left them, without reading them. @returns those that somebody has changed since */
async function writeAsKnown(stores: Stored, known: ByJob): Promise<ByJob> {
  if (known.size === 0) return known;
  const changes = [...known].flatMap(([jobId, entries]) =>
    reportOn(stores, stores.jobs.known(jobId) as JobState, entries, new Map()),
  );
  const missed = only(known, await stores.jobs.write(changes));
  for (const entry of [...missed.values()].flat()) Object.assign(entry, { step: null, ended: null });
  return missed;
}

/** Reads the jobs and writes to them, until no other process comes between. */
async function writeRead(stores: Stored, byJob: ByJob): Promise<void> {
  let open = byJob;
  for (let round = 1; open.size > 0; round++) {
    if (round > MOST_ROUNDS) throw contended();
    if (round > ROUNDS_AT_ONCE) await setTimeout(Math.random() * round);
    open = only(open, await write(stores, open));
  }
}

/** @returns the ids of the jobs that are to be read again: somebody has come between the reading and the writing */
async function write(stores: Stored, open: ByJob): Promise<Set<string>> {
  const jobs = await stores.jobs.findForReports([...open.keys()]);
  const found: [JobState, readonly Entry[]][] = [];
  for (const [jobId, entries] of open) {
    const job = jobs.get(jobId);
    for (const entry of entries) entry.job ??= job ?? null;
    if (job && jobOf(entries)?._id.equals(job._id)) found.push([job, entries]);
    else await forget(stores, entries);
  }
  const known = await stores.steps.findForReports(found.flatMap(([job, entries]) => neededSteps(job, entries)));
  const changes = found.flatMap(([job, entries]) => reportOn(stores, job, entries, known));
  const missedSteps = await stores.steps.write(changes.flatMap(({ steps }) => steps));
  for (const entry of found.flatMap(([, entries]) => entries)) {
    if (entry.step && missedSteps.has(stepName(entry.step))) entry.created = false;
  }
  const isMissed = ({ steps }: Change) => steps.some(({ is }) => missedSteps.has(stepName(is)));
  const ready = changes.filter((change) => !isMissed(change));
  await findCurrent(
    stores,
    ready.map(({ is }) => is).filter(({ currentKnown }) => !currentKnown),
  );
  const missed = await stores.jobs.write(ready);
  for (const change of changes) if (isMissed(change)) missed.add(change.was.jobId);
  return missed;
}

/** Whether the job itself holds all that is needed: the reports are about its current step, which runs on. */
const staysCurrent = ({ current, currentKnown }: JobState, entries: readonly Entry[]): boolean =>
  currentKnown &&
  entries.every(({ report: { stepKey, change } }) => {
    return stepKey === current?.stepKey && (change.status ?? "running") === "running" && change.output === undefined;
  });

function neededSteps(job: JobState, entries: readonly Entry[]): { job: JobState; stepKey: string }[] {
  if (staysCurrent(job, entries)) return [];
  const keys = unique([...entries.map(({ report }) => report.stepKey), ...(job.current ? [job.current.stepKey] : [])]);
  return keys.map((stepKey) => ({ job, stepKey }));
}

/** Applies each report to its step and to the job. @returns nothing where all of them fail */
function reportOn(
  stores: Stored,
  job: JobState,
  entries: readonly Entry[],
  known: ReadonlyMap<string, StoredStep>,
): Change[] {
  const storedOf = (stepKey: string) => known.get(stepName({ job: job._id, stepKey })) ?? null;
  const now = (stepKey: string): StepState | null => {
    const stored = storedOf(stepKey);
    if (stored) return upToDate(stored, job);
    const { current } = job;
    return current?.stepKey === stepKey ? { ...current, jobId: job.jobId, job: job._id, endedAt: null } : null;
  };
  // Where somebody has come between the steps and the job, the steps are there already, unless they too were changed.
  const written = new Map(entries.map(({ report, step }) => [report.stepKey, step?.reportedAt]));
  const after = new Map<string, StepState>();
  let latest = job.current?.reportedAt ?? 0;
  for (const entry of entries) {
    const { stepKey, change } = entry.report;
    if (entry.error) continue;
    const stored = now(stepKey);
    if (stored && stored.reportedAt === written.get(stepKey)) {
      after.set(stepKey, stored);
      latest = Math.max(latest, stored.reportedAt);
      continue;
    }
    const before = after.get(stepKey) ?? stored;
    try {
      entry.step = stores.steps.reported(before, job, stepKey, change, latest);
      latest = entry.step.reportedAt;
      entry.created ||= before === null;
      after.set(stepKey, entry.step);
    } catch (error) {
      entry.error = error as Error;
    }
  }
  if (after.size === 0) return [];
  const current = currentAfter(job, [...after.values()]);
  const { after: reported, said } = jobAfter(stores, job, entries);
  const is = { ...reported, currentKnown: current !== undefined, current: current ?? null };
  if (staysCurrent(job, entries)) return [{ was: job, is, said, steps: [] }];
  const other = job.current && !after.has(job.current.stepKey) ? now(job.current.stepKey) : null;
  const steps = [...after.values(), ...(other ? [other] : [])].flatMap((is) => {
    const was = storedOf(is.stepKey);
    const isKeptByJob = was?.status === "running" && current?.stepId === is.stepId && is.output === undefined;
    return isKeptByJob || is.reportedAt === was?.reportedAt ? [] : [{ was, is }];
  });
  return [{ was: job, is, said, steps }];
}

function jobAfter({ jobs }: Stored, was: JobState, entries: readonly Entry[]) {
  let job = was;
  const said = new Set<keyof JobState>();
  for (const entry of entries) {
    if (entry.error) continue;
    const { change, effect } = entry.report;
    // A failed job takes the step's message, also one that an earlier report left there.
    const message =
      change.message ?? (effect.ends?.status === "failed" ? (entry.step?.message ?? undefined) : undefined);
    entry.ended = effect.ends && effect.ends.status !== job.status ? effect.ends.status : null;
    job = jobs.reported(job, { ...effect, message });
    if (message !== undefined) said.add("message");
    if (effect.ends) said.add("status").add("endedAt");
  }
  return { after: job, said };
}

async function findCurrent({ jobs, steps }: Stored, unknown: readonly JobState[]): Promise<void> {
  if (unknown.length === 0) return;
  const found = await findCurrentSteps({ jobs, steps }, unknown);
  for (const job of unknown) {
    const step = found.get(job._id.toHexString());
    Object.assign(job, { currentKnown: true, current: step ? toCurrent(step) : null });
  }
}

/** There is no such job, or it was deleted in this moment: what was written of its steps goes with it. */
async function forget({ steps }: Stored, entries: readonly Entry[]): Promise<void> {
  const job = jobOf(entries);
  if (job) await steps.deleteOf([job]);
  for (const entry of entries) entry.error = jobNotFound(entry.report.jobId);
}

/** All of them are about one job. */
const jobOf = ([first]: readonly Entry[]): JobState | null => first?.job ?? null;

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

const contended = () =>
  new AppError("unavailable", {
    detail: "Too many processes report on the same job at once. Send the same request again.",
    retryAfterSeconds: 1,
  });
