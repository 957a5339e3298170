import { newNoteId } from "../../models/notifications/note.ts";
import type { ScanDeps } from "./scanDeps.ts";
import { dispatchBatch, MAX_SINGLE } from "./staleBatch.ts";

/** Maximum jobs that one command announces. */
const PAGE_SIZE = 500;

/**
 * Announces the jobs that have become stale, each once. If they are many, chats get one message for all. Dispatches also what an
 * earlier scan has left.
 * @throws AppError unavailable
 */
export async function announceStale(deps: ScanDeps, lost: AbortSignal): Promise<void> {
  const { stores, clock, timings } = deps;
  for (const left of await stores.outbox.findBatches()) await dispatchBatch(deps.dispatch, left);
  if (!deps.dispatch.rules.some(({ on }) => on.has("job.stale"))) return;
  const scan = { now: clock.now(), resumedAt: await stores.presence.record(clock.now(), timings.outageMs) };
  const isStorm = (await stores.jobs.countSilent(scan, MAX_SINGLE + 1)) > MAX_SINGLE;
  const batch = isStorm ? newNoteId() : undefined;
  while (!lost.aborted && (await stores.jobs.noteSilent(scan, { batch, limit: PAGE_SIZE })) > 0) {
    // A scan of very many jobs is no outage.
    await stores.presence.record(clock.now(), timings.outageMs);
  }
  if (batch !== undefined && !lost.aborted) await dispatchBatch(deps.dispatch, batch);
}
