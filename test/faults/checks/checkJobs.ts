import type { History, Read, Report, StoredJob } from "./history.ts";
import type { Violation } from "./violation.ts";

/** Tolerance for progress, which is a floating-point number. */
const CLOSE = 1e-6;
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "dropped"]);

/** Checks that each acknowledged report is stored once, and that jobs have the progress of their reports. */
export function checkReports({ reports, stored }: Pick<History, "reports" | "stored">): Violation[] {
  const jobs = new Map(stored.jobs.map((job) => [job.jobId, job]));
  return [...Map.groupBy(reports, ({ jobId }) => jobId)].flatMap(([jobId, ofJob]) =>
    checkJob(jobId, ofJob, jobs.get(jobId)),
  );
}

function checkJob(jobId: string, reports: readonly Report[], job: StoredJob | undefined): Violation[] {
  const found: Violation[] = [];
  const report = (kind: Violation["kind"], what: string) => found.push({ kind, what: `job ${jobId}: ${what}` });
  for (const { message, acknowledged } of reports) {
    if (!acknowledged) report("stuck", `the report ${JSON.stringify(message)} was never acknowledged`);
  }
  const taken = reports.filter(({ acknowledged }) => acknowledged);
  const last = taken.at(-1);
  if (!last) return found;
  if (!job) {
    report("lost", `it is missing, although ${taken.length} reports were acknowledged`);
    return found;
  }
  if (job.progress < last.jobProgress - CLOSE) {
    report("lost", `its progress is ${job.progress}, although ${last.jobProgress} was acknowledged`);
  }
  const isLast = reports.at(-1) === last; // A later, unacknowledged report may have been stored.
  if (isLast && job.message !== last.message) {
    report("lost", `its message is ${JSON.stringify(job.message)}, not ${JSON.stringify(last.message)}`);
  }
  if (isLast && last.output !== null && (job.output !== last.output || job.status !== "completed")) {
    report("lost", `it is ${job.status} with the output ${job.output}, not completed with ${last.output}`);
  }
  for (const [stepKey, ofStep] of Map.groupBy(taken, ({ stepKey }) => stepKey)) {
    const stored = job.steps.filter((step) => step.stepKey === stepKey);
    const [step] = stored;
    const wanted = ofStep.at(-1)?.progress ?? 0;
    if (stored.length > 1) report("doubled", `the step ${stepKey} is stored ${stored.length} times`);
    if (!step) report("lost", `the step ${stepKey} is missing`);
    else if (step.progress < wanted) report("lost", `${stepKey} is at ${step.progress}, not at ${wanted}`);
    if (step && step.attempts !== 1)
      report("doubled", `${stepKey} has ${step.attempts} attempts, but it was started once`);
  }
  return found;
}

/** Checks that no reader saw decreasing progress, an ended job running again, or a completed job without output. */
export function checkReads({ reads }: Pick<History, "reads">): Violation[] {
  const found: Violation[] = [];
  const before = new Map<string, Read>();
  for (const read of reads) {
    const { reader, jobId, progress, status, hasOutput } = read;
    const key = `${reader} of ${jobId}`;
    const was = before.get(key);
    const report = (what: string) => found.push({ kind: "back", what: `${reader} saw the job ${jobId} ${what}` });
    if (was && progress < was.progress) report(`at ${was.progress}, then at ${progress}`);
    if (was && ENDED.has(was.status) && status !== was.status) report(`${was.status}, then ${status}`);
    if (status === "completed" && hasOutput === false) report("completed without its output");
    before.set(key, read);
  }
  return found;
}

/** Checks that a run does not change after a reader saw it ended. */
export function checkRunReads({ runReads }: Pick<History, "runReads">): Violation[] {
  const found: Violation[] = [];
  const ends = new Map<string, { status: string; reply: string | null }>();
  for (const { reader, runId, status, reply } of runReads) {
    const key = `${reader} of ${runId}`;
    const end = ends.get(key);
    const report = (what: string) =>
      found.push({ kind: "ended twice", what: `${reader} saw the run ${runId} ${what}` });
    if (end && status !== end.status) report(`${end.status}, then ${status}`);
    else if (end && reply !== end.reply) report(`with one reply, then with another`);
    else if (ENDED.has(status)) ends.set(key, { status, reply });
  }
  return found;
}
