import type { Config } from "../../shared/config/schema/config.ts";
import type { Timings } from "../../shared/timings.ts";
import type { PeriodicDeps } from "../periodic.ts";
import type { DispatchDeps } from "./dispatch.ts";

/** The dependencies of the search for silent and missing jobs. */
export interface ScanDeps extends PeriodicDeps {
  readonly stores: DispatchDeps["stores"];
  readonly dispatch: DispatchDeps;
  readonly expect: Config["expect"];
  readonly staleAfterSeconds: number;
  readonly timings: Timings["sweep"];
}
