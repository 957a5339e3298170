import type { mongo } from "mongoose";
import type { JobDoc } from "./job.ts";

/**
 * Every report changes `updatedAt` and `staleAt`. The indexes use these times truncated to the minute, because an update that
 * changes no indexed field costs MongoDB less, above all for jobs of thousands of steps, whose documents it then does not
 * rewrite.
 */
const MINUTE_MS = 60_000;

/**
 * Returns how long a job or one of its steps may run without a report before it is stale, in milliseconds. A job that waits for a
 * person is never stale.
 */
export const staleAfterMs = (
  { staleAfterSeconds, openGates = [] }: Pick<JobDoc, "staleAfterSeconds" | "openGates">,
  defaultSeconds: number,
): number => (openGates.length > 0 ? Number.POSITIVE_INFINITY : (staleAfterSeconds ?? defaultSeconds) * 1_000);

/** Returns a time truncated to the minute. */
export const minuteOf = (time: Date): Date => new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS);

/** Returns the expression for how long a job may run without a report before it is stale, in milliseconds. */
export const silentMs = (defaultSeconds: number) => ({
  $multiply: [{ $ifNull: ["$staleAfterSeconds", defaultSeconds] }, 1_000],
});

/** The expression for the time since which a job is silent. Waiting for a person does not count. */
export const SILENT_SINCE = { $max: ["$createdAt", "$lastReportAt", "$resumedAt"] };

/**
 * Returns the fields of every update that changes a job now.
 * @param condition an expression on which the change depends
 */
export function changedAt(now: Date, condition?: mongo.Document): mongo.Document {
  const ifChanged = (time: Date) => (condition ? { $cond: [condition, time, null] } : time);
  return {
    updatedAt: { $max: ["$updatedAt", ifChanged(now)] },
    updatedMinute: { $max: ["$updatedMinute", ifChanged(minuteOf(now))] },
  };
}

/**
 * Returns the last stages of every update of a job. They set the fields by which stale jobs are found.
 * @param defaultSeconds the `staleAfterSeconds` of jobs that have none of their own
 * @param first further fields of the first of these stages
 * @param last further fields of the last stage
 */
export const timeStages = (
  defaultSeconds: number,
  { first = {}, last = {} }: { first?: mongo.Document; last?: mongo.Document } = {},
): mongo.Document[] => {
  const canBeStale = { $and: [{ $eq: ["$status", "running"] }, { $not: [{ $first: "$openGates" }] }] };
  const staleAt = { $cond: [canBeStale, { $add: [SILENT_SINCE, silentMs(defaultSeconds)] }, null] };
  const staleMinute = { $dateTrunc: { date: "$staleAt", unit: "minute" } };
  return [{ $set: { ...first, staleAt } }, { $set: { staleMinute, ...last } }];
};

/** Returns the query for stale jobs: running ones without a report for too long. */
export const staleJobs = (now: Date): mongo.Filter<JobDoc> => ({
  status: "running",
  staleMinute: { $lte: minuteOf(now) },
  staleAt: { $lte: now },
});

/** Returns the query for jobs that changed at a time or later. */
export const updatedFrom = (time: Date): mongo.Filter<JobDoc> => ({
  updatedMinute: { $gte: minuteOf(time) },
  updatedAt: { $gte: time },
});

/** Returns the query for jobs that last changed before a time. */
export const updatedBefore = (time: Date): mongo.Filter<JobDoc> => ({
  updatedMinute: { $lte: minuteOf(time) },
  updatedAt: { $lt: time },
});
