/**
 * The time constants that decide how soon the processes notice a fault and how long they wait before they act on it, in
 * milliseconds. Entry points pass `TIMINGS`; tests pass shorter ones.
 */
export interface Timings {
  readonly lease: {
    /** How long a lease is valid after it was acquired or renewed. */
    readonly durationMs: number;
    readonly renewEveryMs: number;
    /** How often a process that stands by tries to acquire the lease of a mailbox. */
    readonly acquireEveryMs: number;
  };
  /** How long BullMQ takes a silent worker's job for its own; a third of it passes between two checks. */
  readonly queueLockMs: number;
  readonly sweep: {
    readonly everyMs: number;
    /** A younger record is most likely on its way to its queue already. */
    readonly minAgeMs: number;
    /** How long deliveries wait for a channel that is not configured: another process may know it already. */
    readonly unservedMs: number;
  };
  /** How often the schedules are said again: a Redis that was emptied has lost them. */
  readonly renewSchedulesMs: number;
  readonly retry: {
    /** The pause after each failed try of an agent run; there is one more try than pauses. */
    readonly runMs: readonly number[];
    /** The pause after each failed try of a delivery; there is one more try than pauses. */
    readonly deliveryMs: readonly number[];
    /** How long the events of a failed turn of the main session wait, unless something new wakes it. */
    readonly heartbeatMs: number;
    /** The pause before a write is repeated while MongoDB cannot be reached. */
    readonly writeMs: number;
    /** How long nothing is sent to a channel whose credentials were refused. */
    readonly stoppedChannelMs: number;
  };
  /** How long a service is left alone that limits the pace. */
  readonly channel: {
    /** A pause that is not longer is waited for; what waits longer is given back. */
    readonly maxWaitMs: number;
    /** How soon those who wait for somebody's try look again. */
    readonly probePollMs: number;
    /** At least so long a service is left alone, whatever it says. */
    readonly minLimitMs: number;
    /** The same of one that does not say how long: twice as long each time. */
    readonly initialBackoffMs: number;
  };
  /** How often it is asked which node of a Redis Cluster has what: nothing else tells of one that does not answer any more. */
  readonly clusterSlotsMs: number;
  /** How often a stream of live events shows that it is alive. */
  readonly liveHeartbeatMs: number;
  readonly shutdown: {
    /** How long a stopping server keeps idle connections open: a request may be on its way on one of them. */
    readonly idleConnectionMs: number;
    /** How long a program has between SIGTERM and SIGKILL. */
    readonly programMs: number;
  };
  /** How long the rest of a request's body is awaited that was answered before all of it had come. */
  readonly drainBodyMs: number;
  /** Of several web processes that share a port. */
  readonly webProcesses: {
    /** The pause before one that died is replaced; it doubles with each failed start. */
    readonly replaceMs: number;
    readonly maxReplaceMs: number;
    /** How long all of them have to tell their metrics. */
    readonly metricsMs: number;
  };
}

/** The values of the service itself. */
export const TIMINGS: Timings = {
  lease: { durationMs: 15_000, renewEveryMs: 2_000, acquireEveryMs: 2_000 },
  queueLockMs: 15_000,
  sweep: { everyMs: 5_000, minAgeMs: 5_000, unservedMs: 600_000 },
  renewSchedulesMs: 60_000,
  retry: {
    runMs: [2_000, 10_000],
    deliveryMs: [2_000, 10_000, 60_000, 300_000, 1_800_000],
    heartbeatMs: 60_000,
    writeMs: 500,
    stoppedChannelMs: 300_000,
  },
  channel: { maxWaitMs: 5_000, probePollMs: 200, minLimitMs: 1_000, initialBackoffMs: 5_000 },
  clusterSlotsMs: 5_000,
  liveHeartbeatMs: 15_000,
  shutdown: { idleConnectionMs: 500, programMs: 2_000 },
  drainBodyMs: 10_000, // longer than who means to send the rest takes, shorter than a process takes to stop
  webProcesses: { replaceMs: 1_000, maxReplaceMs: 10_000, metricsMs: 5_000 },
};
