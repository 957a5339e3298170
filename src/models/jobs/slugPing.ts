import type { Clock } from "../../shared/clock.ts";
import { ignore } from "../../shared/errors.ts";
import type { Status } from "./job.ts";
import type { JobStores } from "./jobStores.ts";
import { jobNotFound } from "./jobs.ts";
import type { LogLines } from "./log/logLine.ts";
import { PING_STEP, type PingResult, reportOf } from "./pingJob.ts";
import { reportStep, type StepReport } from "./reports/reportStep.ts";

/** The runs that pings with one slug begin and end. */
export interface PingedRuns {
  /** The beginning of the ids of their jobs. */
  readonly pinged: string;
  /** The name of their jobs. */
  readonly name: string;
  /** Identifies one run; undefined if the program does not name it. */
  readonly rid: string | undefined;
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
  if (ping.state === "log") {
    await stores.logs.append(await findRun(stores, runs), PING_STEP, ping.log);
    return null;
  }
  const applied = await applyPing(stores, runs, { ...ping, state: ping.state }, clock);
  if (applied.isNewest) await stores.logs.append(applied.jobId, PING_STEP, ping.log).catch(ignore("job_not_found"));
  return applied;
}

async function findRun({ jobs }: JobStores, { pinged, rid }: PingedRuns): Promise<string> {
  const jobId = rid === undefined ? await jobs.newestPinged(pinged, STATUSES) : `${pinged}/${rid}`;
  return jobId ?? Promise.reject(jobNotFound(pinged));
}

async function applyPing(
  stores: JobStores,
  runs: PingedRuns,
  { state, body }: SlugPing & { readonly state: Exclude<SlugPing["state"], "log"> },
  clock: Clock,
) {
  const { pinged, rid } = runs;
  const kind = state === "start" ? "running" : state === "success" || state === 0 ? "done" : "fail";
  const exitCode = typeof state === "number" ? { exitCode: state } : {};
  const message = lastLine(body);
  const output = { message: message || null, ...exitCode, ...(body !== "" && { body }) };
  const report = { ...reportOf({ kind, ...exitCode }, message), ...(kind !== "running" && { output }) };
  if (state === "start" || rid !== undefined) {
    const first = rid === undefined ? await begin(stores, runs, clock) : await beginAs(stores, runs, rid);
    const applied = await apply(stores, first, { ...report, order: state === "start" ? START : END });
    const isRepeated = state === "start" || applied.step.status === report.status;
    if (applied.isNewest || isRepeated) return applied;
  }
  for (let i = 0; rid === undefined && i < MAX_TRIES; i++) {
    const jobId = await stores.jobs.newestPinged(pinged, ["running"]);
    if (jobId === undefined) break;
    const applied = await apply(stores, { jobId, createdJob: false }, { ...report, order: END }).catch(
      ignore("job_not_found"),
    );
    if (applied?.isNewest) return applied;
  }
  return apply(stores, await begin(stores, runs, clock), { ...report, order: END });
}

type Begun = Pick<PingResult, "jobId" | "createdJob">;

async function apply(stores: JobStores, begun: Begun, report: StepReport) {
  return { ...begun, ...(await reportStep(stores, begun.jobId, PING_STEP, report)) };
}

/** Creates the job of a run, unless another ping of the run has done so. */
async function beginAs({ jobs }: JobStores, { pinged, name }: PingedRuns, id: string): Promise<Begun> {
  const jobId = `${pinged}/${id}`;
  const { created } = await jobs.put(jobId, { name, pinged, isQuiet: true });
  return { jobId, createdJob: created };
}

/** Creates a job whose id is the time, or the next free millisecond. */
async function begin(stores: JobStores, runs: PingedRuns, clock: Clock): Promise<Begun> {
  for (let ms = clock.now().getTime(); ; ms++) {
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
