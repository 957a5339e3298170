import type { mongo } from "mongoose";
import { guard } from "./guard.ts";
import type { JobDoc } from "./job.ts";
import { jobQuery } from "./jobFilter.ts";

const HOUR_MS = 3_600_000;

export interface JobStats {
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  lastHour: { created: number; completed: number; failed: number };
}

/** How many jobs there are in each status, and what happened in the last hour. @throws AppError unavailable */
export async function jobStats(collection: mongo.Collection<JobDoc>, now: Date): Promise<JobStats> {
  const since = new Date(now.getTime() - HOUR_MS);
  const count = (query: mongo.Filter<JobDoc>) => guard(() => collection.countDocuments(query));
  const [running, completed, failed, stale, created, completedLately, failedLately] = await Promise.all([
    count({ status: "running" }),
    count({ status: "completed" }),
    count({ status: "failed" }),
    count(jobQuery({ stale: true }, now)),
    count({ createdAt: { $gte: since } }),
    count({ status: "completed", endedAt: { $gte: since } }),
    count({ status: "failed", endedAt: { $gte: since } }),
  ]);
  return {
    jobs: { total: running + completed + failed, running, completed, failed, stale },
    lastHour: { created, completed: completedLately, failed: failedLately },
  };
}
