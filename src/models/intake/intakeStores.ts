import type { IdempotencyKeys } from "../idempotencyKey.ts";
import type { RunStores } from "../runs/runStores.ts";
import type { HookRequests } from "./hookRequests.ts";

/** The collections of requests to hooks with their queries, and those of the runs that requests start. */
export interface IntakeStores extends RunStores {
  readonly hookRequests: HookRequests;
  readonly idempotencyKeys: IdempotencyKeys;
}
