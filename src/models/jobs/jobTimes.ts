import type { mongo } from "mongoose";
import type { JobDoc } from "./job.ts";

/**
 * Every report moves `updatedAt` and `staleAt`. Indexes are on their minutes, because an update that changes no indexed field
 * costs MongoDB a fifth less, and a third of it for a job of 10,000 steps, whose document it then does not write anew.
 */
const MINUTE_MS = 60_000;

/** How long a running job or step of this job may go without a report before it is stale, in milliseconds. */
export const staleAfterMs = (
  { staleAfterSeconds }: Pick<JobDoc, "staleAfterSeconds">,
  defaultSeconds: number,
): number => (staleAfterSeconds ?? defaultSeconds) * 1_000;

/** The minute of a time. */
export const minuteOf = (time: Date): Date => new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS);

const minuteExpression = (field: string) => ({ $dateTrunc: { date: field, unit: "minute" } });

/**
 * The last stages of every update of a job: they set what depends on its times.
 * @param defaultSeconds for jobs that have no `staleAfterSeconds` of their own
 */
export const timeStages = (defaultSeconds: number): mongo.Document[] => {
  const silentMs = { $multiply: [{ $ifNull: ["$staleAfterSeconds", defaultSeconds] }, 1_000] };
  const staleAt = { $add: [{ $ifNull: ["$lastReportAt", "$createdAt"] }, silentMs] };
  return [
    { $set: { staleAt: { $cond: [{ $eq: ["$status", "running"] }, staleAt, null] } } },
    { $set: { staleMinute: minuteExpression("$staleAt"), updatedMinute: minuteExpression("$updatedAt") } },
  ];
};

/** Running jobs that have gone without a report for too long. */
export const staleJobs = (now: Date): mongo.Filter<JobDoc> => ({
  status: "running",
  staleMinute: { $lte: minuteOf(now) },
  staleAt: { $lte: now },
});

export const updatedFrom = (time: Date): mongo.Filter<JobDoc> => ({
  updatedMinute: { $gte: minuteOf(time) },
  updatedAt: { $gte: time },
});

export const updatedBefore = (time: Date): mongo.Filter<JobDoc> => ({
  updatedMinute: { $lte: minuteOf(time) },
  updatedAt: { $lt: time },
});
