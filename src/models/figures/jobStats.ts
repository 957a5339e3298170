import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import type { Usage } from "../../wire/runs/usage.ts";
import type { Stats } from "../../wire/stats.ts";
import { MAX_COUNTED } from "../db/countBy.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { staleJobs } from "../jobs/jobTimes.ts";
import { type JobFilter, jobQuery, scopeQuery } from "../jobs/search/jobFilter.ts";

const HOUR_MS = 3_600_000;

/** Maximum time that counting may take, in milliseconds, without its result being cached. */
const MAX_UNCACHED_MS = 50;
/**
 * How long a result is cached, as a multiple of the time that counting took. Counting thus takes at most a tenth of the time,
 * however many jobs there are.
 */
const CACHE_FACTOR = 10;

/** Sums the usage of the runs that ended since a time. */
type SumUsage = (since: Date) => Promise<Usage | null>;

type JobCollection = Pick<Jobs, "collection">;

const NO_USAGE: SumUsage = () => Promise.resolve(null);

/** Counts jobs, and caches the result if counting was slow. Concurrent callers share one slow count. */
export class JobStats {
  readonly #jobs: JobCollection;
  readonly #clock: Clock;
  readonly #sumUsage: SumUsage;
  #cached: Promise<Stats> | undefined;

  /** @param sumUsage without it there is no usage */
  constructor(jobs: JobCollection, clock: Clock, sumUsage: SumUsage = NO_USAGE) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#sumUsage = sumUsage;
  }

  /**
   * Returns the number of jobs in each status, and what happened in the last hour.
   * @param filter the jobs to count; all by default. Counts at most 10,000 if it has more than a scope
   */
  read({ scope, ...filter }: JobFilter = {}): Promise<Stats> {
    // The usage of runs is not part of some jobs.
    if (Object.keys(filter).length > 0) return countMatching(this.#jobs, { ...filter, scope }, this.#clock.now());
    if (scope) return countJobs(this.#jobs, this.#clock.now(), NO_USAGE, scopeQuery(scope));
    return this.#cached ?? this.#count();
  }

  async #count(): Promise<Stats> {
    const started = performance.now();
    const counting = countJobs(this.#jobs, this.#clock.now(), this.#sumUsage);
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

/** @param scope the jobs to count */
async function countJobs(
  jobs: JobCollection,
  now: Date,
  sumUsage: SumUsage,
  scope: mongo.Filter<JobDoc> = {},
): Promise<Stats> {
  const since = new Date(now.getTime() - HOUR_MS);
  const count = (query: mongo.Filter<JobDoc>) => jobs.collection.countDocuments({ ...scope, ...query });
  const [running, completed, failed, stale, created, completedLately, failedLately, usageLastHour] = await Promise.all([
    count({ status: "running" }),
    count({ status: "completed" }),
    count({ status: "failed" }),
    count(staleJobs(now)),
    count({ createdAt: { $gte: since } }),
    count({ status: "completed", endedAt: { $gte: since } }),
    count({ status: "failed", endedAt: { $gte: since } }),
    sumUsage(since),
  ]);
  return {
    jobs: { total: running + completed + failed, running, completed, failed, stale },
    lastHour: { created, completed: completedLately, failed: failedLately },
    capped: false,
    usageLastHour,
  };
}

/** Counts the jobs that match a filter, in one read of at most `MAX_COUNTED` of them. */
async function countMatching(jobs: JobCollection, filter: JobFilter, now: Date): Promise<Stats> {
  const since = new Date(now.getTime() - HOUR_MS);
  const count = (...conditions: object[]) => ({ $sum: { $cond: [{ $and: conditions }, 1, 0] } });
  const isStatus = (status: string) => ({ $eq: ["$status", status] });
  const isWithin = (field: string) => ({ $gte: [field, since] });
  const stages = [
    { $match: jobQuery(filter, now) },
    { $limit: MAX_COUNTED + 1 },
    {
      $group: {
        _id: null,
        total: { $sum: 1 },
        running: count(isStatus("running")),
        completed: count(isStatus("completed")),
        failed: count(isStatus("failed")),
        stale: count(isStatus("running"), { $gt: ["$staleAt", null] }, { $lte: ["$staleAt", now] }),
        created: count(isWithin("$createdAt")),
        completedLately: count(isStatus("completed"), isWithin("$endedAt")),
        failedLately: count(isStatus("failed"), isWithin("$endedAt")),
      },
    },
  ];
  const [counted] = await jobs.collection.aggregate(stages);
  const { total = 0, running = 0, completed = 0, failed = 0, stale = 0, ...lately } = counted ?? {};
  const { created = 0, completedLately = 0, failedLately = 0 } = lately;
  return {
    jobs: { total: Math.min(total, MAX_COUNTED), running, completed, failed, stale },
    lastHour: { created, completed: completedLately, failed: failedLately },
    capped: total > MAX_COUNTED,
    usageLastHour: null,
  };
}
