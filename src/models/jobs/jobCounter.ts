import type { Usual } from "../../wire/job.ts";
import type { RunTimes } from "./runTime.ts";

/** The fields of a job that its figures depend on. */
export interface CountedJob extends RunTimes {
  readonly name: string | null;
  readonly status: "running" | "completed" | "failed";
}

/** Counts the jobs that start and end. */
export interface JobCounter {
  countStarted(job: CountedJob): void;
  countEnded(job: CountedJob): void;
}

export const NO_JOB_COUNTER: JobCounter = { countStarted() {}, countEnded() {} };

/** The usual durations of jobs by name. */
export interface UsualSource {
  /**
   * @param fresh whether the values are read again, so that all processes return the same
   * @returns null for each name under which too few jobs have completed
   */
  read(names: Iterable<string | null>, fresh?: boolean): Promise<ReadonlyMap<string | null, Usual | null>>;
}
