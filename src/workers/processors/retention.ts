import { setTimeout as pause } from "node:timers/promises";
import { cleanUpDeletions, deleteEndedBefore } from "../../models/commands/deleteJobs.ts";
import { forgetSingleUse } from "../../models/commands/forgetSessions.ts";
import type { Stores } from "../../models/stores.ts";
import { durationMs } from "../../shared/duration.ts";
import type { Processor, RunContext } from "../run.ts";

/** No request that was under way when its job was deleted can still write a step so much later. */
const DELETION_SETTLED_MS = 10 * 60_000;

/** How long what has ended is kept; durations such as `30d`, jobs for ever where none is given. */
export interface RetentionSettings {
  readonly completedAfter?: string | undefined;
  readonly failedAfter?: string | undefined;
  readonly retainSingleUse: string;
}

/**
 * Deletes ended jobs that are older than the configuration keeps them, and what reports wrote to jobs in the moment of
 * their deletion. Between two batches it pauses for as long as the batch took, so that the API keeps half of MongoDB.
 */
export function retentionProcessor(
  stores: Stores,
  { completedAfter, failedAfter, retainSingleUse }: RetentionSettings,
): Processor {
  return async (_job, context) => {
    const ago = (ms: number) => new Date(context.clock.now().getTime() - ms);
    const expire = (status: "completed" | "failed", after: string | undefined) =>
      after === undefined ? 0 : inBatches(context, () => deleteEndedBefore(stores, status, ago(durationMs(after))));
    const completed = await expire("completed", completedAfter);
    const failed = await expire("failed", failedAfter);
    const deletions = await inBatches(context, () => cleanUpDeletions(stores, ago(DELETION_SETTLED_MS)));
    const sessions = await inBatches(context, () => forgetSingleUse(stores, ago(durationMs(retainSingleUse))));
    return { kind: "done", result: { completed, failed, deletions, sessions } };
  };
}

/** Runs batches until one finds nothing, or until the work is told to end: the next run goes on from there. */
async function inBatches({ signal }: RunContext, batch: () => Promise<number>): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const started = performance.now();
    const done = await batch();
    if (done === 0) break;
    total += done;
    await pause(performance.now() - started, undefined, { signal }).catch(() => {});
  }
  return total;
}
