import type { mongo } from "mongoose";
import type { JobDoc } from "./job.ts";
import { later } from "./reportedStep.ts";

/**
 * An index entry that is moved is a fifth of what a report costs MongoDB, and each report would move two. So `updatedAt`
 * and `staleAt` as they are stored may lie before what they stand for, by less than this; the rest is told by
 * `lastReportAt`, which is always right. Never to be made less: what is stored would not be found any more.
 */
const LAG_MS = 60_000;

type Stored<K extends keyof JobDoc> = Readonly<Pick<JobDoc, K>>;

const lagging = (stored: Date | null, real: Date, most = LAG_MS): Date => {
  const lag = stored ? real.getTime() - stored.getTime() : -1;
  return stored && lag >= 0 && lag < most ? stored : real;
};

/** When anything of the job last changed. */
export const updatedAtOf = ({ updatedAt, lastReportAt }: Stored<"updatedAt" | "lastReportAt">): Date =>
  later(lastReportAt, updatedAt);

/** What is to be stored for it after a report. */
export const storedUpdatedAt = (before: Date, now: Date): Date => lagging(before, later(before, now));

type Silence = Stored<"status" | "createdAt" | "lastReportAt" | "staleAfterSeconds">;

/** How long a running job or step of this job may be silent before it is stale, in milliseconds. */
export const staleAfterMs = ({ staleAfterSeconds }: Stored<"staleAfterSeconds">, otherwise: number): number =>
  (staleAfterSeconds ?? otherwise) * 1_000;

const endOfSilence = (job: Silence, staleAfterSeconds: number): Date =>
  new Date((job.lastReportAt ?? job.createdAt).getTime() + staleAfterMs(job, staleAfterSeconds));

/**
 * From when on the job is stale unless it is reported again; null when it does not run.
 * @param staleAfterSeconds of jobs that do not say it themselves
 */
export function staleAtOf(job: Silence & Stored<"staleAt">, staleAfterSeconds: number): Date | null {
  return job.status === "running" ? later(job.staleAt, endOfSilence(job, staleAfterSeconds)) : null;
}

/** What is to be stored for it after a report: of a job that is reported on again and again always a time to come. */
export function storedStaleAt(before: Date | null, job: Silence, staleAfterSeconds: number): Date | null {
  if (job.status !== "running") return null;
  const most = Math.min(LAG_MS, staleAfterMs(job, staleAfterSeconds) / 2);
  return lagging(before, endOfSilence(job, staleAfterSeconds), most);
}

/** `endOfSilence` as an expression of MongoDB. */
export const endOfSilenceExpression = (staleAfterSeconds: number) => ({
  $add: [
    { $ifNull: ["$lastReportAt", "$createdAt"] },
    { $multiply: [{ $ifNull: ["$staleAfterSeconds", staleAfterSeconds] }, 1_000] },
  ],
});

/** Jobs that last changed at a time or after it; the first condition is what the index serves. */
export const changedFrom = (time: Date): mongo.Filter<JobDoc> => ({
  updatedAt: { $gte: new Date(time.getTime() - LAG_MS) },
  $or: [{ updatedAt: { $gte: time } }, { lastReportAt: { $gte: time } }],
});

/** Jobs that last changed before a time. */
export const changedBefore = (time: Date): mongo.Filter<JobDoc> => ({
  updatedAt: { $lt: time },
  lastReportAt: { $not: { $gte: time } },
});

/** What else decides which jobs are stale. */
export interface StaleBy {
  readonly now: Date;
  /** Of jobs that do not say it themselves. */
  readonly staleAfterSeconds: number;
}

export const staleJobs = ({ now, staleAfterSeconds }: StaleBy): mongo.Filter<JobDoc> => ({
  status: "running",
  staleAt: { $lte: now },
  $expr: { $lte: [endOfSilenceExpression(staleAfterSeconds), now] },
});
