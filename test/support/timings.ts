import { TIMINGS, type Timings } from "../../src/shared/timings.ts";

/** A tenth of the service's time constants or less, except leases, because no test waits for their end. */
export const FAST_TIMINGS: Timings = {
  lease: TIMINGS.lease,
  queueLockMs: TIMINGS.queueLockMs,
  sweep: { everyMs: 300, minAgeMs: 500, unservedMs: 60_000 },
  sayScheduleMs: 1_000,
  retry: {
    runMs: [100, 300],
    deliveryMs: [200, 500, 1_000, 2_000, 4_000],
    heartbeatMs: 2_000,
    writeMs: 50,
    stoppedChannelMs: 10_000,
  },
  channel: { waitedForMs: 500, probeLookMs: 20, leastLimitMs: 100, leastUntoldMs: 5_000 },
  clusterSlotsMs: 1_000,
  liveBeatMs: 1_500,
  shutdown: { idleConnectionMs: 10, programMs: 500 },
  restOfBodyMs: 1_000,
  webProcesses: { replaceMs: 50, mostReplaceMs: 500, metricsMs: 1_500 },
};

/** Also short leases, for tests in which other processes wait for the leases of a dead or hanging process. */
export const FAULT_TIMINGS: Timings = {
  ...FAST_TIMINGS,
  lease: { durationMs: 1_500, renewEveryMs: 200, acquireEveryMs: 200 },
  queueLockMs: 1_500,
};
