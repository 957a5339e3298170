import { randomUUID } from "node:crypto";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { withLease } from "../shared/lease.ts";
import type { Logger } from "../shared/logger.ts";

/** Duration of the lease, in intervals. It is renewed at each interval. */
const LEASE_INTERVALS = 3;
/** Maximum pause after a pass, in milliseconds, however long the pass took. */
const MAX_PAUSE_MS = 30_000;

export interface PeriodicDeps {
  readonly stores: Pick<Stores, "leases">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface PeriodicTimes {
  readonly everyMs: number;
  /**
   * Minimum pause after a pass, as a multiple of its duration, so that passes over very many records do not fill the time; 0 for
   * passes that only read what is new. A pass that failed because a server was down is repeated without it.
   */
  readonly pauseFactor: number;
}

/** A part of a periodic task. The signal aborts when another process has the lease. */
export type PeriodicPart<D> = (deps: D, lost: AbortSignal) => Promise<void>;

/**
 * Starts a task that one worker process at a time carries out at each interval. Every process has a timer; a lease on the
 * name lets one of them work. A part that fails does not stop the others.
 */
export function startPeriodic<D extends PeriodicDeps>(
  name: string,
  { everyMs, pauseFactor }: PeriodicTimes,
  parts: readonly PeriodicPart<D>[],
  deps: D,
): { close(): Promise<void> } {
  const holder = randomUUID();
  let working = Promise.resolve();
  let isIdle = true;
  let notBefore = 0;
  const timer = setInterval(() => {
    const began = performance.now();
    if (!isIdle || began < notBefore) return;
    isIdle = false;
    working = pass(name, everyMs, parts, deps, holder)
      .catch((error: unknown) => logFailure(deps, name, error))
      .then((isComplete) => {
        isIdle = true;
        const now = performance.now();
        notBefore = isComplete ? now + Math.min(pauseFactor * (now - began), MAX_PAUSE_MS) : 0;
      });
  }, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await working;
    },
  };
}

/**
 * Starts a task that every worker process carries out at each interval, one pass at a time.
 * @param options.immediately whether the first pass begins now
 */
export function startInEachProcess(
  name: string,
  everyMs: number,
  act: () => Promise<unknown>,
  log: Logger,
  { immediately = false } = {},
): { close(): Promise<void> } {
  let working: Promise<unknown> | undefined;
  const work = () => {
    working ??= act()
      .catch((error: unknown) => logFailure({ log }, name, error))
      .finally(() => {
        working = undefined;
      });
  };
  if (immediately) work();
  const timer = setInterval(work, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await working;
    },
  };
}

/** Returns false when a part failed. */
async function pass<D extends PeriodicDeps>(
  name: string,
  everyMs: number,
  parts: readonly PeriodicPart<D>[],
  deps: D,
  holder: string,
): Promise<boolean> {
  const { stores, clock } = deps;
  const durationMs = everyMs * LEASE_INTERVALS;
  const renew = () => stores.leases.acquire(name, holder, durationMs);
  if (!(await renew())) return true;
  const lease = { durationMs, renewEveryMs: everyMs };
  return withLease({ renew, now: () => clock.now() }, lease, async (lost) => {
    let isComplete = true;
    for (const part of parts) {
      if (lost.aborted) break; // another process works now
      await part(deps, lost).catch((error: unknown) => {
        isComplete = logFailure(deps, name, error); // the next part may use another node of a cluster
      });
    }
    return isComplete;
  });
}

/** Logs that a task failed: an outage of a server, which shows elsewhere, only for debugging, and every other error as such. */
export function logFailure({ log }: Pick<PeriodicDeps, "log">, name: string, error: unknown): false {
  const isOutage = error instanceof AppError && error.code === "unavailable";
  log[isOutage ? "debug" : "error"]({ err: error }, `the ${name} failed; it is repeated`);
  return false;
}
