import type { JobSummary } from "../../client/client.ts";

/** Maximum number of ended jobs kept. */
const MAX_ENDED = 1_000;

/** The state of the watched jobs, merged from reads and live events. */
export class LiveJobs {
  readonly #running = new Map<string, JobSummary>();
  readonly #ended = new Map<string, JobSummary>();

  /** In the order in which they last changed. */
  get running(): readonly JobSummary[] {
    return [...this.#running.values()];
  }

  /** In the order in which they ended. */
  get ended(): readonly JobSummary[] {
    return [...this.#ended.values()];
  }

  /** Replaces the running jobs by the result of a read. @returns the jobs that have changed */
  load(jobs: readonly JobSummary[]): JobSummary[] {
    const present = new Set(jobs.map(({ jobId }) => jobId));
    for (const jobId of this.#running.keys()) if (!present.has(jobId)) this.#running.delete(jobId);
    return jobs.filter((job) => this.take(job));
  }

  /** Applies a job from a read or an event. @returns whether it has changed */
  take(job: JobSummary): boolean {
    const { jobId } = job;
    const known = this.#running.get(jobId) ?? this.#ended.get(jobId);
    const isSame = known?.createdAt === job.createdAt; // else it is another job with the same id
    if (isSame && (job.updatedAt < known.updatedAt || looksLike(job, known))) return false;
    this.remove(jobId); // the job moves to the end, because the order is that of the last change
    const latest = isSame ? { ...job, progress: Math.max(job.progress, known.progress) } : job;
    (job.status === "running" ? this.#running : this.#ended).set(jobId, latest);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    return true;
  }

  /** @returns whether the job was there */
  remove(jobId: string): boolean {
    return this.#running.delete(jobId) || this.#ended.delete(jobId);
  }
}

const looksLike = (one: JobSummary, other: JobSummary): boolean =>
  one.status === other.status &&
  one.progress === other.progress &&
  one.message === other.message &&
  one.stale === other.stale &&
  one.cancel?.requestedAt === other.cancel?.requestedAt &&
  one.name === other.name &&
  one.currentStep?.stepId === other.currentStep?.stepId &&
  one.currentStep?.progress === other.currentStep?.progress;
