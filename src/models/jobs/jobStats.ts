import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import type { JobDoc } from "./job.ts";
import type { Jobs } from "./jobs.ts";
import { staleJobs } from "./jobTimes.ts";

const HOUR_MS = 3_600_000;

export interface JobStats {
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  lastHour: { created: number; completed: number; failed: number };
}

/** Maximum time that counting may take, in milliseconds, without its result being cached. */
const MAX_UNCACHED_MS = 50;
/**
 * How long a result is cached, as a multiple of the time that counting took. Counting thus takes at most a tenth of the time,
 * however many jobs there are.
 */
const CACHE_FACTOR = 10;

type JobCollection = Pick<Jobs, "collection">;

/** Counts jobs, and caches the result if counting was slow. Concurrent callers share one slow count. */
export class JobStatistics {
  readonly #jobs: JobCollection;
  readonly #clock: Clock;
  #cached: Promise<JobStats> | undefined;

  constructor(jobs: JobCollection, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /** Returns the number of jobs in each status, and what happened in the last hour. @throws AppError unavailable */
  read(): Promise<JobStats> {
    return this.#cached ?? this.#count();
  }

  async #count(): Promise<JobStats> {
    const started = performance.now();
    const counting = countJobs(this.#jobs, this.#clock.now());
    const cacheTimer = setTimeout(() => {
      this.#cached ??= counting;
    }, MAX_UNCACHED_MS);
    const forget = () => {
      if (this.#cached === counting) this.#cached = undefined;
    };
    try {
      const stats = await counting;
      setTimeout(forget, (performance.now() - started) * CACHE_FACTOR).unref();
      return stats;
    } catch (error) {
      forget();
      throw error;
    } finally {
      clearTimeout(cacheTimer);
    }
  }
}

async function countJobs(jobs: JobCollection, now: Date): Promise<JobStats> {
  const since = new Date(now.getTime() - HOUR_MS);
  const count = (query: mongo.Filter<JobDoc>) =>
    readFromCaughtUpPrimary(jobs.collection, () => jobs.collection.countDocuments(query));
  const [running, completed, failed, stale, created, completedLately, failedLately] = await Promise.all([
    count({ status: "running" }),
    count({ status: "completed" }),
    count({ status: "failed" }),
    count(staleJobs(now)),
    count({ createdAt: { $gte: since } }),
    count({ status: "completed", endedAt: { $gte: since } }),
    count({ status: "failed", endedAt: { $gte: since } }),
  ]);
  return {
    jobs: { total: running + completed + failed, running, completed, failed, stale },
    lastHour: { created, completed: completedLately, failed: failedLately },
  };
}
