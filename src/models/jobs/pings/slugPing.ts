import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../shared/clock.ts";
import { ignore } from "../../../shared/errors.ts";
import type { Status } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import { jobNotFound } from "../jobs.ts";
import type { LogLines } from "../log/logLine.ts";
import { reportStep, type StepReport } from "../reports/reportStep.ts";
import { PING_STEP, type PingResult, reportOf } from "./pingJob.ts";

/** The runs that pings with one slug begin and end. */
export interface PingedRuns {
  /** The beginning of the ids of their jobs. */
  readonly pinged: string;
  /** The name of their jobs. */
  readonly name: string;
  /** Identifies one run; undefined if the program does not name it. */
  readonly rid: string | undefined;
  /** The valid `traceparent` of the request, which counts if it creates the job. */
  readonly traceparent?: string | undefined;
}

/** A ping that begins or ends a run, or adds to its log. */
export interface SlugPing {
  /** The exit code of a ping with one, otherwise how the run goes. */
  readonly state: "start" | "success" | "fail" | "log" | number;
  /** The beginning of the text that came with it; may be empty. */
  readonly body: string;
  /** The lines of that text, for the log. */
  readonly log: LogLines;
}

/** The orders of the two events of a run: its end stays, whenever its beginning arrives. */
const START = 0;
const END = 1;

const STATUSES: readonly Status[] = ["running", "completed", "failed"];

/**
 * Maximum running jobs that an end without a `rid` tries to end, each of which another ping or caller ends first. After that it is
 * a run of its own.
 */
const MAX_TRIES = 25;

/** How long a ping has to end the job that it has leased. After that another one may end it. */
const LEASE_MS = 10_000;
/** Delay before another look at jobs that other pings end now, and the maximum of looks, which take longer than a lease. */
const WAIT_MS = 100;
const MAX_LOOKS = 120;

/**
 * Applies a ping to the run that it is about: the one with its `rid`, or for an end the newest running one, and for lines of a log
 * the newest one. An end without a running job makes a job that is over at once, and never changes one that has ended otherwise.
 * @returns null for lines of a log
 * @throws AppError job_not_found for lines without a run; unavailable, too_many_steps
 */
export async function pingSlug(
  stores: JobStores,
  runs: PingedRuns,
  ping: SlugPing,
  clock: Clock,
): Promise<PingResult | null> {
  const { state, log } = ping;
  if (state === "log") {
    await stores.logs.append(await findRun(stores, runs), PING_STEP, log);
    return null;
  }
  const report = reportOfPing({ ...ping, state });
  if (state !== "start") return endRun(stores, runs, { ...report, order: END }, log, clock);
  const begun = runs.rid === undefined ? await begin(stores, runs, clock) : await beginAs(stores, runs, runs.rid);
  const applied = await apply(stores, begun, { ...report, order: START });
  if (applied.isNewest) await addLines(stores, applied.jobId, log);
  return applied;
}

/**
 * Ends a run. The lines stand in its log before it has ended, because what follows from the end shows them: only the ping that
 * leases the end of a job adds lines to it.
 */
async function endRun(stores: JobStores, runs: PingedRuns, report: StepReport, log: LogLines, clock: Clock) {
  const { pinged, rid } = runs;
  if (rid !== undefined) {
    const begun = await beginAs(stores, runs, rid);
    const isLeased = (await leaseEnd(stores, { jobId: begun.jobId }, clock)) !== undefined;
    const applied = await (isLeased ? applyLeased(stores, begun, { ...report, log }) : apply(stores, begun, report));
    if (applied.isNewest && !isLeased) await addLines(stores, applied.jobId, log);
    if (applied.isNewest || applied.step.status === report.status) return applied;
  }
  for (let i = 0; rid === undefined && i < MAX_TRIES; i++) {
    const jobId = await leaseEnd(stores, { pinged }, clock);
    if (jobId === undefined) break;
    const applied = await applyLeased(stores, { jobId, createdJob: false }, { ...report, log }).catch(
      ignore("job_not_found"),
    );
    if (applied?.isNewest) return applied;
  }
  return endNewRun(stores, runs, { ...report, log }, clock);
}

/** Begins a run and ends it at once. Begins a further one when another ping ends the first before this one has leased its end. */
async function endNewRun(stores: JobStores, runs: PingedRuns, report: StepReport, clock: Clock): Promise<PingResult> {
  for (let i = 0; ; i++) {
    const begun = await begin(stores, runs, clock);
    const isLeased = (await leaseEnd(stores, { jobId: begun.jobId }, clock)) !== undefined;
    const applied = isLeased ? await applyLeased(stores, begun, report) : null;
    if (applied && (applied.isNewest || i >= MAX_TRIES)) return applied;
    if (i >= MAX_TRIES) return apply(stores, begun, report);
  }
}

/** Adds lines to a log, unless its job was deleted. */
const addLines = (stores: JobStores, jobId: string, log: LogLines): Promise<void> =>
  stores.logs.append(jobId, PING_STEP, log).catch(ignore("job_not_found"));

/**
 * Leases the end of a running job: the newest one that matches and that no other ping ends now. While there are only others, waits
 * until they have ended.
 * @returns undefined if no matching job is running
 */
async function leaseEnd(
  { jobs: { collection } }: JobStores,
  which: { readonly jobId: string } | { readonly pinged: string },
  clock: Clock,
): Promise<string | undefined> {
  const running = { ...which, status: "running" as const };
  const options = { projection: { jobId: 1 }, sort: { createdAt: -1 } } as const;
  for (let i = 0; i < MAX_LOOKS; i++) {
    const now = clock.now();
    const isFree = { $or: [{ endLease: { $exists: false } }, { endLease: { $lte: now } }] };
    const lease = { $set: { endLease: new Date(now.getTime() + LEASE_MS) } };
    const leased = await collection.findOneAndUpdate({ ...running, ...isFree }, lease, options);
    if (leased) return leased.jobId;
    if (!(await collection.exists(running))) return undefined;
    await pause(WAIT_MS);
  }
  return undefined;
}

/** Applies a report to the job whose end is leased. If that fails, a repeated ping may end the job at once. */
async function applyLeased(stores: JobStores, begun: Begun, report: StepReport) {
  try {
    return await apply(stores, begun, report);
  } catch (error) {
    // If this fails too, the lease expires.
    await stores.jobs.collection.updateOne({ jobId: begun.jobId }, { $unset: { endLease: 1 } }).catch(() => {});
    throw error;
  }
}

/** Returns the id of the job that lines of a log are about: the one with the `rid`, or the newest of the slug. */
async function findRun({ jobs }: JobStores, { pinged, rid }: PingedRuns): Promise<string> {
  if (rid !== undefined) return `${pinged}/${rid}`;
  const query = { pinged, status: { $in: [...STATUSES] } };
  const newest = await jobs.collection.findOne(query, { projection: { jobId: 1 }, sort: { createdAt: -1 } });
  return newest?.jobId ?? Promise.reject(jobNotFound(pinged));
}

function reportOfPing({ state, body }: SlugPing & { readonly state: Exclude<SlugPing["state"], "log"> }): StepReport {
  const kind = state === "start" ? "running" : state === "success" || state === 0 ? "done" : "fail";
  const exitCode = typeof state === "number" ? { exitCode: state } : {};
  const message = lastLine(body);
  const output = { message: message || null, ...exitCode, ...(body !== "" && { body }) };
  return { ...reportOf({ kind, ...exitCode }, message), ...(kind !== "running" && { output }) };
}

type Begun = Pick<PingResult, "jobId" | "createdJob">;

async function apply(stores: JobStores, begun: Begun, report: StepReport) {
  return { ...begun, ...(await reportStep(stores, begun.jobId, PING_STEP, report)) };
}

/** Creates the job of a run, unless another ping of the run has done so. */
async function beginAs({ jobs }: JobStores, { pinged, name, traceparent }: PingedRuns, id: string): Promise<Begun> {
  const jobId = `${pinged}/${id}`;
  const { created } = await jobs.put(jobId, { name, pinged, traceparent, isQuiet: true });
  return { jobId, createdJob: created };
}

/**
 * Creates a job whose id is the time, or a free millisecond soon after it. The range to choose from doubles: if each of a thousand
 * pings at once tried the next one, they would need half a million tries.
 */
async function begin(stores: JobStores, runs: PingedRuns, clock: Clock): Promise<Begun> {
  const now = clock.now().getTime();
  for (let range = 1, ms = now; ; range *= 2, ms = now + 1 + Math.floor(Math.random() * range)) {
    const begun = await beginAs(stores, runs, new Date(ms).toISOString());
    if (begun.createdJob) return begun;
  }
}

/** Returns the last line of a text that is not blank; empty if there is none. */
const lastLine = (text: string): string =>
  text
    .trimEnd()
    .split(/[\r\n]+/)
    .at(-1)
    ?.trim() ?? "";
