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

/** A count that takes longer than this serves whoever asks, … */
const QUICK_MS = 50;
/** … until so many times as long has passed as it took: however many jobs there are, counting is a small part of the time. */
const SERVES_TIMES = 10;

type JobCollection = Pick<Jobs, "collection">;

/** Counts jobs for whoever asks. */
export class JobStatistics {
  readonly #jobs: JobCollection;
  readonly #clock: Clock;
  #serving: Promise<JobStats> | undefined;

  constructor(jobs: JobCollection, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /** How many jobs there are in each status, and what happened in the last hour. @throws AppError unavailable */
  read(): Promise<JobStats> {
    return this.#serving ?? this.#count();
  }

  async #count(): Promise<JobStats> {
    const started = performance.now();
    const counting = countJobs(this.#jobs, this.#clock.now());
    const isSlow = setTimeout(() => {
      this.#serving ??= counting;
    }, QUICK_MS);
    const forget = () => {
      if (this.#serving === counting) this.#serving = undefined;
    };
    try {
      const stats = await counting;
      setTimeout(forget, (performance.now() - started) * SERVES_TIMES).unref();
      return stats;
    } catch (error) {
      forget();
      throw error;
    } finally {
      clearTimeout(isSlow);
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
