import type { Clock } from "../../shared/clock.ts";
import { DelayedFlush } from "../../shared/delayedFlush.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import type { CountedJob, JobCounter } from "../jobs/jobCounter.ts";
import { runningMs } from "../jobs/runTime.ts";
import { bucketOf } from "./durations.ts";

/** The number of jobs that started and ended in a period of time, with the durations of those that ended. */
export const JobFiguresDoc = f.object({
  _id: f.objectId,
  /** Length of the period. */
  seconds: f.number,
  /** Start of the period: a multiple of its length since 1970. */
  start: f.date,
  /** Name of the counted jobs; null for the figures of all jobs. */
  name: f.nullable(f.string),
  started: f.number,
  completed: f.number,
  failed: f.number,
  /** See `Durations`. */
  durations: f.optional(f.free<Record<string, number>>()),
  expiresAt: f.date,
});
export type JobFiguresDoc = f.Stored<typeof JobFiguresDoc>;

export const jobFiguresSchema = f
  .schemaOf(JobFiguresDoc)
  .index({ seconds: 1, name: 1, start: 1 }, { unique: true })
  .index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const HOUR = 3_600;

/**
 * The lengths of periods in seconds, each with the seconds that its figures are kept: one hour, one day, and one week. `usual`
 * counts only completed jobs, because the others end early.
 */
export const PERIODS = {
  hour: { seconds: 300, keepSeconds: 2 * HOUR },
  day: { seconds: HOUR, keepSeconds: 26 * HOUR },
  week: { seconds: 6 * HOUR, keepSeconds: 8 * 24 * HOUR },
  usual: { seconds: 24 * HOUR, keepSeconds: 60 * 24 * HOUR },
} as const;

/** Maximum names that a process counts in one hour. Jobs with further names count only among all jobs. */
const MAX_NAMES = 100;

interface Figures {
  readonly seconds: number;
  readonly start: number;
  readonly keepSeconds: number;
  readonly name: string | null;
  readonly counts: Record<string, number>;
}

export interface JobFiguresDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Interval at which the figures are stored. */
  readonly storeEveryMs: number;
}

/**
 * Counts the jobs that this process starts and ends, and adds the counts to the stored figures at each interval. The cost thus
 * depends on the number of names, not of jobs. Figures never count a job twice; those of the last interval are missing if the
 * process is killed or MongoDB cannot store them.
 */
export class JobFigures implements JobCounter {
  readonly #collection: Documents<JobFiguresDoc>;
  readonly #deps: JobFiguresDeps;
  readonly #names = new Set<string>();
  #namesHour = 0;
  readonly #waiting = new Map<string, Figures>();
  readonly #flush: DelayedFlush;

  constructor(collection: Documents<JobFiguresDoc>, deps: JobFiguresDeps) {
    this.#collection = collection;
    this.#deps = deps;
    this.#flush = new DelayedFlush(() => this.#storeAll(), deps.storeEveryMs);
  }

  countStarted({ name, createdAt }: CountedJob): void {
    this.#count(name, createdAt, { started: 1 });
  }

  countEnded(job: CountedJob): void {
    const { name, endedAt, status } = job;
    if (!endedAt || status === "running") return;
    const counts = { [status]: 1, [`durations.${bucketOf(runningMs(job, endedAt))}`]: 1 };
    this.#count(name, endedAt, counts);
    if (status === "completed") this.#count(name, endedAt, counts, [PERIODS.usual]);
  }

  /** Stores what has been counted. Failures are only logged. */
  flush(): Promise<void> {
    return this.#flush.flush();
  }

  async #storeAll(): Promise<void> {
    const figures = [...this.#waiting.values()];
    this.#waiting.clear();
    if (figures.length === 0) return;
    await this.#store(figures).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, "figures of jobs could not be stored");
    });
  }

  async #store(figures: readonly Figures[]): Promise<void> {
    const updates = figures.map(({ seconds, start, keepSeconds, name, counts }) => ({
      updateOne: {
        filter: { seconds, start: new Date(start), name },
        update: {
          $inc: { started: 0, completed: 0, failed: 0, ...counts },
          $setOnInsert: { expiresAt: new Date(start + (seconds + keepSeconds) * 1_000) },
        },
        upsert: true,
      },
    }));
    await this.#collection.bulkWrite(updates, { ordered: false });
  }

  #count(
    name: string | null,
    at: Date,
    counts: Record<string, number>,
    periods: readonly Pick<Figures, "seconds" | "keepSeconds">[] = [PERIODS.hour, PERIODS.day, PERIODS.week],
  ): void {
    for (const { seconds, keepSeconds } of periods) {
      const start = Math.floor(at.getTime() / (seconds * 1_000)) * seconds * 1_000;
      for (const one of name !== null && this.#isCounted(name) ? [null, name] : [null]) {
        const key = `${seconds} ${start} ${one === null ? "" : `=${one}`}`;
        const figures = this.#waiting.get(key) ?? { seconds, start, keepSeconds, name: one, counts: {} };
        for (const [field, n] of Object.entries(counts)) figures.counts[field] = (figures.counts[field] ?? 0) + n;
        this.#waiting.set(key, figures);
      }
    }
    this.#flush.schedule();
  }

  #isCounted(name: string): boolean {
    const hour = Math.floor(this.#deps.clock.now().getTime() / (HOUR * 1_000));
    if (hour !== this.#namesHour) {
      this.#namesHour = hour;
      this.#names.clear();
    }
    if (this.#names.size < MAX_NAMES) this.#names.add(name);
    return this.#names.has(name);
  }
}
