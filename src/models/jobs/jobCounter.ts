/** The fields of a job that its figures depend on. */
export interface CountedJob {
  readonly name: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly status: "running" | "completed" | "failed";
}

/** Counts the jobs that start and end. */
export interface JobCounter {
  countStarted(job: CountedJob): void;
  countEnded(job: CountedJob): void;
}

export const NO_JOB_COUNTER: JobCounter = { countStarted() {}, countEnded() {} };
