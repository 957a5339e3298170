import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import { withLease } from "../shared/lease.ts";
import type { Timings } from "../shared/timings.ts";

interface LeasedTaskDeps {
  readonly stores: Pick<Stores, "leases">;
  readonly clock: Clock;
  readonly timings: Pick<Timings, "lease">;
}

export interface LeasedTask {
  /** The name of the lease. */
  readonly name: string;
  /** Whether the work ends before its lease expires by the clock of this process. */
  readonly isStrict?: boolean | undefined;
  /** Works until the signal aborts: the lease is lost, or the task is closed. */
  work(signal: AbortSignal, holder: string): Promise<void>;
  /** Is called when the work, or MongoDB, has failed. The task goes on. */
  onError(error: unknown): void;
}

/** Starts a task without an end that one worker process at a time carries out, under a lease. The others stand by. */
export function startLeasedTask(deps: LeasedTaskDeps, task: LeasedTask): { close(): Promise<void> } {
  const closed = new AbortController();
  const running = run(deps, task, closed.signal);
  return {
    async close() {
      closed.abort();
      await running;
    },
  };
}

async function run({ stores, clock, timings }: LeasedTaskDeps, task: LeasedTask, closed: AbortSignal): Promise<void> {
  const { name, isStrict = timings.lease.isStrict } = task;
  const { durationMs, renewEveryMs, acquireEveryMs } = timings.lease;
  const holder = randomUUID();
  const renew = () => stores.leases.acquire(name, holder, durationMs);
  const lease = { renew, now: () => clock.now() };
  while (!closed.aborted) {
    try {
      if (await renew()) {
        const times = { durationMs, renewEveryMs, ...(isStrict && { isStrict }) };
        await withLease(lease, times, (lost) => task.work(AbortSignal.any([lost, closed]), holder));
        await stores.leases.release(name, holder);
      }
    } catch (error) {
      task.onError(error);
    }
    await pause(acquireEveryMs, undefined, { signal: closed }).catch(() => {});
  }
}
