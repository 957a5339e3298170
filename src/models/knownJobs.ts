import type { JobState } from "./reportedJob.ts";

const MOST = 1_000;

/**
 * Running jobs as this process's last report has left them: the next one need not read them first. What is known may be out
 * of date, so it is good for nothing but a write that compares. A job that somebody else has changed meanwhile is not kept
 * again: where several processes report on it in turn, each would try in vain and then read it anyway.
 */
export class KnownJobs {
  readonly #jobs = new Map<string, JobState | "shared">();

  get(jobId: string): JobState | undefined {
    const known = this.#jobs.get(jobId);
    return known === "shared" ? undefined : known;
  }

  keep(job: JobState): void {
    if (this.#jobs.get(job.jobId) === "shared") return;
    this.#jobs.delete(job.jobId); // it is the newest now
    if (job.status === "running") this.#set(job.jobId, job);
  }

  /** Somebody else has changed it. */
  share(jobId: string): void {
    this.#set(jobId, "shared");
  }

  /** This process itself has changed it otherwise. */
  forget(jobId: string): void {
    if (this.get(jobId)) this.#jobs.delete(jobId);
  }

  #set(jobId: string, known: JobState | "shared"): void {
    this.#jobs.set(jobId, known);
    const [oldest] = this.#jobs.keys();
    if (oldest !== undefined && this.#jobs.size > MOST) this.#jobs.delete(oldest);
  }
}
