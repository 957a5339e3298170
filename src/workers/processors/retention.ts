import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { deleteUnusedGates } from "../../models/gates/repairGates.ts";
import { confirmRequests } from "../../models/intake/deleteHookRequests.ts";
import { deleteUnusedPayloads, type StoredPayload } from "../../models/jobs/payloads/unusedPayloads.ts";
import { deleteEndedDeliveries, deleteEndedRuns } from "../../models/retention/deleteEndedRuns.ts";
import { deleteEndedBefore } from "../../models/retention/deleteJobs.ts";
import { deleteSingleUseSessions } from "../../models/retention/deleteSingleUseSessions.ts";
import { deleteUnusedCalls } from "../../models/runs/hookCall.ts";
import type { Stores } from "../../models/stores.ts";
import { withLease } from "../../shared/lease.ts";
import { durationMs } from "../../shared/text/duration.ts";
import type { ProcessorOutcome } from "../outcome.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

/** Age of a hook call after which no request can still add runs to it. */
const CALL_SETTLED_MS = 10 * 60_000;

/** The name of the lease. */
const TASK = "retention";
/** How often all payloads and gates are read, to find those that nothing refers to: seldom, since only crashes leave them. */
const SCAN_EVERY_MS = 3_600_000;

/** How long ended records are kept, as durations such as `30d`. Jobs and runs without a duration are kept for ever. */
export interface RetentionSettings {
  readonly completedAfter?: string | undefined;
  readonly failedAfter?: string | undefined;
  /** Applies to runs and their deliveries. Not shorter than `retainSingleUse`. */
  readonly runsAfter?: string | undefined;
  readonly retainSingleUse: string;
  readonly messagesAfter?: string | undefined;
  readonly auditAfter: string;
  readonly logsAfter: string;
  /** How long, and up to which size, requests to hooks are kept; undefined if none is kept. */
  readonly requests?: { readonly ms: number; readonly maxBytes: number | undefined } | undefined;
}

/**
 * Returns the processor that deletes ended jobs and runs after their retention time, and once an hour stored payloads and gates
 * that nothing refers to. After each batch it pauses for as long as the batch took, so that the API keeps half of MongoDB's time.
 * One worker at a time does so.
 */
export function retentionProcessor(stores: Stores, settings: RetentionSettings): Processor {
  const deleteAll = deleter(stores, settings);
  return async (_job, context) => {
    const { timings, clock } = context;
    const holder = randomUUID();
    const renew = () => stores.leases.acquire(TASK, holder, timings.lease.durationMs);
    if (!(await renew())) return { kind: "done", isIdle: true };
    try {
      return await withLease({ renew, now: () => clock.now() }, timings.lease, (lost) =>
        deleteAll({ ...context, signal: AbortSignal.any([context.signal, lost]) }),
      );
    } finally {
      await stores.leases.release(TASK, holder);
    }
  };
}

function deleter(
  stores: Stores,
  {
    completedAfter,
    failedAfter,
    runsAfter,
    retainSingleUse,
    messagesAfter,
    auditAfter,
    logsAfter,
    requests,
  }: RetentionSettings,
): (context: RunContext) => Promise<ProcessorOutcome> {
  return async (context) => {
    const untilNone = (batch: () => Promise<number>) => inBatches(context, repeatUntilNone(batch));
    const ago = (ms: number) => new Date(context.clock.now().getTime() - ms);
    const expire = (status: "completed" | "failed", after: string | undefined) =>
      after === undefined ? 0 : untilNone(() => deleteEndedBefore(stores, status, ago(durationMs(after))));
    const completed = await expire("completed", completedAfter);
    const failed = await expire("failed", failedAfter);
    const sessions = await untilNone(() => deleteSingleUseSessions(stores, ago(durationMs(retainSingleUse))));
    const messages = await deleteMessages(stores, messagesAfter && ago(durationMs(messagesAfter)), untilNone);
    const calls = await inBatches(context, deleteUnusedCalls(stores, ago(CALL_SETTLED_MS)));
    // Before runs are deleted: a request whose runs are gone looks like one whose runs were never stored.
    await untilNone(() => confirmRequests(stores, ago(CALL_SETTLED_MS)));
    const end = (deleteBefore: typeof deleteEndedDeliveries) =>
      runsAfter === undefined
        ? 0
        : untilNone(() => deleteBefore(stores, ago(durationMs(runsAfter)), context.clock.now()));
    const deliveries = await end(deleteEndedDeliveries);
    const runs = await end(deleteEndedRuns);
    const audit = await untilNone(() => stores.audit.deleteBefore(ago(durationMs(auditAfter))));
    const logs = await untilNone(() => stores.logs.deleteBefore(ago(durationMs(logsAfter))));
    const kept = await deleteRequests(stores, requests, ago, untilNone);
    const hourly = (name: string) => ({ task: TASK, name, everyMs: SCAN_EVERY_MS });
    const unusedGates = (after?: string) => deleteUnusedGates(stores, after);
    const gates = await inBatches(context, stores.leases.scan(hourly("gates"), unusedGates));
    const unusedPayloads = (after?: StoredPayload) => deleteUnusedPayloads(stores, context.clock.now(), after);
    const payloads = await inBatches(context, stores.leases.scan(hourly("payloads"), unusedPayloads));
    const result = {
      completed,
      failed,
      payloads,
      gates,
      sessions,
      messages,
      deliveries,
      runs,
      calls,
      audit,
      logs,
      requests: kept,
    };
    return { kind: "done", result, isIdle: Object.values(result).every((count) => count === 0) };
  };
}

/** Deletes the messages from before a time, and the sessions that have none left. @returns the number of messages */
async function deleteMessages(
  { messages, sessions }: Stores,
  before: Date | "" | undefined,
  untilNone: (batch: () => Promise<number>) => Promise<number>,
): Promise<number> {
  if (!before) return 0;
  const deleted = await untilNone(() => messages.deleteBefore(before));
  await sessions.deleteUnusedSince(before);
  return deleted;
}

/** Deletes the kept requests that are too old or too many. @returns their number */
async function deleteRequests(
  stores: Stores,
  limits: RetentionSettings["requests"],
  ago: (ms: number) => Date,
  untilNone: (batch: () => Promise<number>) => Promise<number>,
): Promise<number> {
  const { hookRequests } = stores;
  const old = await untilNone(() => hookRequests.deleteBefore(ago(limits?.ms ?? 0)));
  const { maxBytes } = limits ?? {};
  return old + (maxBytes === undefined ? 0 : await untilNone(() => hookRequests.deleteAbove(maxBytes)));
}

/** Runs a batch again and again until it deletes nothing. */
async function* repeatUntilNone(batch: () => Promise<number>): AsyncGenerator<number, void> {
  for (let deleted = await batch(); deleted > 0; deleted = await batch()) yield deleted;
}

/**
 * Runs batches until none is left or the signal aborts, and returns the total. The next job of the queue continues where this one
 * stopped.
 * @param batches yields the number of deleted records after each batch
 */
async function inBatches({ signal }: RunContext, batches: AsyncGenerator<number, void>): Promise<number> {
  let total = 0;
  if (signal.aborted) return total;
  let started = performance.now();
  for await (const deleted of batches) {
    total += deleted;
    await pause(performance.now() - started, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    started = performance.now();
  }
  return total;
}
