import type { Config } from "../../config/config.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { Timings } from "../../shared/timings.ts";
import type { PeriodicDeps } from "../periodic.ts";
import type { DispatchDeps } from "./dispatch.ts";

/** The dependencies of the search for silent and missing jobs. */
export interface ScanDeps extends PeriodicDeps {
  readonly stores: DispatchDeps["stores"];
  readonly queues: Pick<Queues, "noted">;
  readonly rules: DispatchDeps["rules"];
  readonly expect: Config["expect"];
  readonly staleAfterSeconds: number;
  readonly timings: Timings["sweep"];
}

/** Records that a worker looks for silent jobs. @returns the end of the last outage, or null before the first one */
export const recordScan = ({ stores, clock, timings }: ScanDeps): Promise<Date | null> =>
  stores.lastScan.record(clock.now(), timings.outageMs);
