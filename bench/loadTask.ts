import type { AnyWorkName } from "./works.ts";

/** A task of the load. */
export interface LoadTask {
  readonly url: string;
  readonly work: AnyWorkName;
  readonly connections: number;
  readonly seconds: number;
  /** The ids of existing runs, for a work that reads them. */
  readonly runIds?: readonly string[];
}

/** The measurements of one task. */
export interface Timed {
  /** The latency of each response in milliseconds. */
  readonly latencies: number[];
  readonly lastedMs: number;
  /** The ids of the jobs whose whole lives were run. */
  readonly jobIds?: readonly string[];
}
