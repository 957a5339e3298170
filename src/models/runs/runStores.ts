import type { Batcher } from "../../shared/batcher.ts";
import type { Run } from "../../wire/runs/run.ts";
import type { DeliveryStores } from "../deliveries/deliveryStores.ts";
import type { JobStores } from "../jobs/jobStores.ts";
import type { HookCalls } from "./hookCall.ts";
import type { Runs } from "./runs.ts";

/** The collections of runs with their queries, and those of the jobs, sessions and deliveries that follow from a run. */
export interface RunStores extends JobStores, DeliveryStores {
  readonly runs: Runs;
  /** Reads runs as clients see them, concurrent reads in one round trip. */
  readonly runReads: Batcher<string, Run | null>;
  readonly hookCalls: HookCalls;
}
