import type { JobSummary } from "../../client/client.ts";

/** So many ended jobs are remembered. */
const MOST_ENDED = 1_000;

/** The jobs that are watched, as what is read and what is heard of them says. */
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

  /** Takes in what there is now: what ran and is not among it runs no longer. @returns what is news */
  load(jobs: readonly JobSummary[]): JobSummary[] {
    const present = new Set(jobs.map(({ jobId }) => jobId));
    for (const jobId of this.#running.keys()) if (!present.has(jobId)) this.#running.delete(jobId);
    return jobs.filter((job) => this.take(job));
  }

  /** @returns whether it is news */
  take(job: JobSummary): boolean {
    const { jobId } = job;
    const known = this.#running.get(jobId) ?? this.#ended.get(jobId);
    const isSame = known?.createdAt === job.createdAt; // and not another one of the same name
    if (isSame && (job.updatedAt < known.updatedAt || looksLike(job, known))) return false;
    this.remove(jobId); // what changed last comes last
    const latest = isSame ? { ...job, progress: Math.max(job.progress, known.progress) } : job;
    (job.status === "running" ? this.#running : this.#ended).set(jobId, latest);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    return true;
  }

  /** @returns whether it was known */
  remove(jobId: string): boolean {
    return this.#running.delete(jobId) || this.#ended.delete(jobId);
  }
}

const looksLike = (one: JobSummary, other: JobSummary): boolean =>
  one.status === other.status &&
  one.progress === other.progress &&
  one.message === other.message &&
  one.stale === other.stale &&
  one.name === other.name &&
  one.currentStep?.stepId === other.currentStep?.stepId &&
  one.currentStep?.progress === other.currentStep?.progress;
