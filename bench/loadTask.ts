import type { AnyWorkName } from "./works.ts";

/** What the load is asked to do. */
export interface LoadTask {
  readonly url: string;
  readonly work: AnyWorkName;
  readonly connections: number;
  readonly seconds: number;
  /** Runs that the service has, for a work that reads them. */
  readonly runIds?: readonly string[];
}

/** What one kind of load has measured. */
export interface Timed {
  /** In milliseconds, one for each response. */
  readonly latencies: number[];
  readonly lastedMs: number;
  /** Jobs that were taken through their whole lives. */
  readonly jobIds?: readonly string[];
}
