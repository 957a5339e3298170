import { TIMINGS, type Timings } from "../../src/shared/timings.ts";

/**
 * A tenth of the pauses of the service or less. Time limits and leases are long, because a busy machine may need them and no
 * test waits for their end.
 */
export const FAST_TIMINGS: Timings = {
  lease: TIMINGS.lease,
  queueLockMs: TIMINGS.queueLockMs,
  sweep: { everyMs: 300, minAgeMs: 500, unservedMs: 60_000, outageMs: 60_000 },
  chat: { waitSeconds: 1, retryMs: 50, maxRetryMs: 400, silenceMs: 10_000, showMs: 100 },
  gateExpiryMs: 100,
  renewSchedulesMs: 1_000,
  retry: {
    runMs: [100, 300],
    deliveryMs: [200, 500, 1_000, 2_000, 4_000],
    webhookMs: [200, 400, 600, 800, 1_000, 1_200, 1_400, 1_600, 1_800],
    heartbeatMs: 2_000,
    maxHeartbeatMs: 20_000,
    writeMs: 50,
    stoppedChannelMs: 10_000,
  },
  channel: { maxWaitMs: 500, probePollMs: 20, minLimitMs: 100, initialBackoffMs: 5_000 },
  live: { afterMs: 100, everyMs: 20, paceFactor: 0.02 },
  channelCheckMs: 60_000,
  webhook: { timeoutMs: 20_000, minSlotMs: 5, maxSlotMs: 10_000 },
  traces: { everyMs: 50, timeoutMs: 10_000, retryMs: 100, maxRetryMs: 400, giveUpMs: 60_000 },
  clusterSlotsMs: 1_000,
  storeRefusedMs: 50,
  storeFiguresMs: 50,
  liveHeartbeatMs: 1_500,
  readChanges: { blockMs: 500, graceMs: 2_500 },
  waitPollMs: 50,
  shutdown: { idleConnectionMs: 10, programMs: 500 },
  drainBodyMs: 1_000,
  webProcesses: { replaceMs: 50, maxReplaceMs: 500, metricsMs: 1_500 },
};

/** Also short leases, for tests in which other processes wait for the leases of a dead or hanging process. */
export const FAULT_TIMINGS: Timings = {
  ...FAST_TIMINGS,
  lease: { durationMs: 1_500, renewEveryMs: 200, acquireEveryMs: 200 },
  queueLockMs: 1_500,
};
