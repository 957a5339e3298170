import type { Clock } from "../../../shared/clock.ts";
import { suffixedIds, withTimeSuffix } from "../../../shared/text/text.ts";
import type { StepReceipt } from "../../../wire/step.ts";
import type { Documents } from "../../db/documents.ts";
import type { JobDoc, Status } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import type { LogLines } from "../log/logLine.ts";
import { reportOrCreate, reportStep, type StepReport } from "../reports/reportStep.ts";

/** The content of a ping: that the program runs, how far it is in percent, what it has written, or how it ended. */
export type Ping =
  | { readonly kind: "log"; readonly log: LogLines }
  | { readonly kind: "running"; readonly percent?: number }
  | { readonly kind: "done"; readonly exitCode?: number }
  | { readonly kind: "fail"; readonly exitCode?: number };

/** The key and the name of the step that covers the whole job. */
export const PING_STEP = "ping";

export interface PingResult {
  /** The job that was reported on; another than the one asked for if `startNew` found that one ended. */
  readonly jobId: string;
  readonly createdJob: boolean;
  readonly step: StepReceipt;
  /** The job's final status if the ping ended the job. */
  readonly ended: Status | null;
}

interface PingOptions {
  /** The step's message; an empty one leaves the message unchanged. */
  readonly message: string;
  /** Whether a job that has ended stays as it is, and a new job with a suffix takes its place. */
  readonly startNew: boolean;
  /** Whether the caller may create a job. */
  readonly mayCreate: boolean;
  /** Whether the newest run of the job is meant, and not only the job with this very id. */
  readonly followRuns: boolean;
  /** The valid `traceparent` of the request, which counts if it creates the job. */
  readonly traceparent?: string | undefined;
}

/**
 * Reports on the step `ping` of a job, which covers the whole job. Creates the job if it does not exist and the caller
 * may create jobs.
 * @throws AppError job_not_found if the job does not exist and may not be created; unavailable, body_too_large, too_many_steps
 */
export async function pingJob(
  stores: JobStores,
  jobId: string,
  ping: Ping,
  { message, startNew, mayCreate, followRuns, traceparent }: PingOptions,
  clock: Clock,
): Promise<PingResult> {
  const id = followRuns ? await runId(stores, jobId, startNew, clock) : jobId;
  const report = reportOf(ping, message);
  const send = () => reportStep(stores, id, PING_STEP, report);
  let createdJob = false;
  const create = async () => {
    createdJob = (await stores.jobs.put(id, { traceparent })).created;
  };
  const sent = await (mayCreate ? reportOrCreate(send, create) : send());
  return { jobId: id, createdJob, ...sent };
}

/** Returns the report that a ping stands for. @param message may be empty */
export function reportOf(ping: Ping, message: string): StepReport {
  const range = { stepName: PING_STEP, jobProgressStart: 0, jobProgressEnd: 100 };
  const text = message === "" ? {} : { message };
  switch (ping.kind) {
    case "log":
      return { ...range, log: ping.log };
    case "running":
      return { ...range, ...text, status: "running", ...(ping.percent !== undefined && { progress: ping.percent }) };
    case "done": {
      const output = { message: message === "" ? null : message, ...withCode(ping.exitCode) };
      return { ...range, ...text, status: "completed", progress: 100, output };
    }
    case "fail": {
      const reason = ping.exitCode === undefined ? {} : { message: `Exit code ${ping.exitCode}` };
      return { ...range, ...reason, ...text, status: "failed", failJob: true };
    }
  }
}

const withCode = (exitCode: number | undefined) => (exitCode === undefined ? {} : { exitCode });

/** Returns the id of the newest run; with `startNew`, if that one has ended, the id of the run that follows it. */
async function runId({ jobs }: JobStores, jobId: string, startNew: boolean, clock: Clock): Promise<string> {
  const newest = await newestRun(jobs.collection, jobId);
  if (!newest) return jobId;
  if (!startNew || newest.status === "running") return newest.jobId;
  return nextRunId(jobs.collection, newest, withTimeSuffix(jobId, clock.now()));
}

/** Returns the newest of a job and the runs that have its id with a time as suffix; null if there is none. */
async function newestRun(
  collection: Documents<JobDoc>,
  jobId: string,
): Promise<Pick<JobDoc, "_id" | "jobId" | "status" | "createdAt"> | null> {
  const { prefix, pattern } = suffixedIds(jobId);
  // The years 2000 to 2999, so that other ids with this prefix are not read.
  const range = { $gte: `${prefix}-2`, $lt: `${prefix}-3`, $regex: pattern };
  const projection = { jobId: 1, status: 1, createdAt: 1 } as const;
  const [own, suffixed] = await collection.read(() =>
    Promise.all([
      collection.findOne({ jobId }, { projection }),
      collection.findOne({ jobId: range }, { projection, sort: { jobId: -1 } }),
    ]),
  );
  return own && suffixed ? (own.createdAt > suffixed.createdAt ? own : suffixed) : (own ?? suffixed);
}

/** Returns the id of the run that follows an ended one: the given id, or the one that a concurrent call has given. */
async function nextRunId(
  collection: Documents<JobDoc>,
  { _id }: Pick<JobDoc, "_id">,
  proposed: string,
): Promise<string> {
  const set = [{ $set: { nextRunId: { $ifNull: ["$nextRunId", { $literal: proposed }] } } }];
  const options = { returnDocument: "after", projection: { nextRunId: 1 } } as const;
  const job = await collection.findOneAndUpdate({ _id }, set, options);
  return job?.nextRunId ?? proposed;
}
