import type { JobState } from "./reportedJob.ts";

/** Of each of two generations. */
const MOST = 500;

/**
 * Running jobs as this process's last report has left them: the next one need not read them first. What is known may be out
 * of date, so it is good for nothing but a write that compares. A job that somebody else has changed meanwhile is not kept
 * again: where several processes report on it in turn, each would try in vain and then read it anyway.
 */
export class KnownJobs {
  /** Two generations instead of an order of use: nothing is ever deleted (docs/performance.md, "Young objects"). */
  #recent = new Map<string, JobState | "shared" | null>();
  #older: ReadonlyMap<string, JobState | "shared" | null> = new Map();

  get(jobId: string): JobState | undefined {
    const known = this.#find(jobId);
    return known === "shared" || known === null ? undefined : known;
  }

  keep(job: JobState): void {
    const before = this.#find(job.jobId);
    if (before === "shared") return;
    if (job.status === "running") this.#set(job.jobId, job);
    else if (before) this.#set(job.jobId, null);
  }

  /** Somebody else has changed it. */
  share(jobId: string): void {
    this.#set(jobId, "shared");
  }

  /** This process itself has changed it otherwise. */
  forget(jobId: string): void {
    if (this.get(jobId)) this.#set(jobId, null);
  }

  #find(jobId: string): JobState | "shared" | null | undefined {
    const known = this.#recent.get(jobId);
    return known === undefined ? this.#older.get(jobId) : known;
  }

  #set(jobId: string, known: JobState | "shared" | null): void {
    if (this.#recent.size >= MOST && !this.#recent.has(jobId)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(jobId, known);
  }
}
