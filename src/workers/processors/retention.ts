import { setTimeout as pause } from "node:timers/promises";
import { deleteUnusedCalls } from "../../models/hooks/hookCall.ts";
import { deleteEndedBefore, deleteUnusedPayloads } from "../../models/jobs/deleteJobs.ts";
import { deleteEndedDeliveries, deleteEndedRuns } from "../../models/runs/deleteEndedRuns.ts";
import { deleteSingleUseSessions } from "../../models/sessions/deleteSingleUseSessions.ts";
import type { Stores } from "../../models/stores.ts";
import { durationMs } from "../../shared/config/formats/duration.ts";
import type { Processor, RunContext } from "../run.ts";

/** No request that was being accepted can still write its runs so much later. */
const CALL_SETTLED_MS = 10 * 60_000;

/** How long what has ended is kept; durations such as `30d`, jobs and runs for ever where none is given. */
export interface RetentionSettings {
  readonly completedAfter?: string | undefined;
  readonly failedAfter?: string | undefined;
  /** Of runs, with their deliveries. No shorter than `retainSingleUse`. */
  readonly runsAfter?: string | undefined;
  readonly retainSingleUse: string;
}

/**
 * Deletes ended jobs and runs that are older than the configuration keeps them, and stored payloads that nothing refers to. Between two batches it pauses for as long as the batch took, so that the API keeps half of MongoDB.
 */
export function retentionProcessor(
  stores: Stores,
  { completedAfter, failedAfter, runsAfter, retainSingleUse }: RetentionSettings,
): Processor {
  return async (_job, context) => {
    const ago = (ms: number) => new Date(context.clock.now().getTime() - ms);
    const expire = (status: "completed" | "failed", after: string | undefined) =>
      after === undefined ? 0 : inBatches(context, () => deleteEndedBefore(stores, status, ago(durationMs(after))));
    const completed = await expire("completed", completedAfter);
    const failed = await expire("failed", failedAfter);
    const payloads = await deleteUnusedPayloads(stores, context.clock.now(), context.signal);
    const sessions = await inBatches(context, () => deleteSingleUseSessions(stores, ago(durationMs(retainSingleUse))));
    const calls = await deleteUnusedCalls(stores, ago(CALL_SETTLED_MS), context.signal);
    const end = (deleteBefore: typeof deleteEndedRuns) =>
      runsAfter === undefined ? 0 : inBatches(context, () => deleteBefore(stores, ago(durationMs(runsAfter))));
    const deliveries = await end(deleteEndedDeliveries);
    const runs = await end(deleteEndedRuns);
    return { kind: "done", result: { completed, failed, payloads, sessions, deliveries, runs, calls } };
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
