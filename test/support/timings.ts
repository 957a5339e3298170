import type { Timings } from "../../src/shared/timings.ts";

/** A tenth of the service's own time constants, or less; long enough for a busy machine to keep a lease. */
export const FAST_TIMINGS: Timings = {
  lease: { durationMs: 1_500, renewEveryMs: 200, acquireEveryMs: 200 },
  queueLockMs: 1_500,
  sweep: { everyMs: 300, minAgeMs: 500, unservedMs: 60_000 },
  retry: {
    runMs: [100, 300],
    deliveryMs: [200, 500, 1_000, 2_000, 4_000],
    heartbeatMs: 2_000,
    writeMs: 50,
    stoppedChannelMs: 10_000,
  },
  liveBeatMs: 1_500,
  shutdown: { idleConnectionMs: 10, programMs: 500 },
};
