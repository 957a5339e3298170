/**
 * The time constants that decide how soon the processes notice a fault and how long they wait before they act on it. All are
 * in milliseconds. Entry points pass `TIMINGS`; tests pass shorter ones.
 */
export interface Timings {
  readonly lease: {
    /** How long a lease is valid after it was acquired or renewed. */
    readonly durationMs: number;
    readonly renewEveryMs: number;
    /** How often a process that stands by tries to acquire the lease of a mailbox. */
    readonly acquireEveryMs: number;
    /** Whether work ends before its lease expires by the own clock (`worker.strictLeases`). */
    readonly isStrict?: boolean;
  };
  /** How long BullMQ keeps the lock of a worker that does not renew it. A third of it passes between two checks. */
  readonly queueLockMs: number;
  readonly sweep: {
    readonly everyMs: number;
    /** Minimum age of a record that the sweep enqueues. A younger one is probably being enqueued by its own process. */
    readonly minAgeMs: number;
    /** How long deliveries wait for a channel that is not configured here: another process may have it already. */
    readonly unservedMs: number;
    /** The shortest pause between two scans for silent jobs that counts as an outage: jobs could not report either. */
    readonly outageMs: number;
  };
  readonly chat: {
    /** How long a service holds a request for updates until one arrives. */
    readonly waitSeconds: number;
    /** The pause after such a request has failed. It doubles with each failure up to the maximum. */
    readonly retryMs: number;
    readonly maxRetryMs: number;
    /** How long a connection over which a service sends updates may be silent. */
    readonly silenceMs: number;
    /** How often messages with buttons are compared with their questions. */
    readonly showMs: number;
  };
  /** How often gates whose time has passed are looked for. Clients may rely on at most 5 s of delay. */
  readonly gateExpiryMs: number;
  /** How often the schedules are stored again, because a Redis that was emptied has lost them. */
  readonly renewSchedulesMs: number;
  /**
   * `runMs`, `deliveryMs` and `webhookMs` are tables instead of a `backoff`: the documentation names these times, their
   * length is the number of further tries, and they grow faster than by two.
   */
  readonly retry: {
    /** The pause after each failed try of an agent run; there is one more try than pauses. */
    readonly runMs: readonly number[];
    /** The pause after each failed try of a delivery; there is one more try than pauses. */
    readonly deliveryMs: readonly number[];
    /** The pause after each failed try of a webhook, before jitter; there is one more try than pauses. */
    readonly webhookMs: readonly number[];
    /** How long the events of a failed turn of the main session wait, unless a new event wakes it. Doubles up to the maximum. */
    readonly heartbeatMs: number;
    readonly maxHeartbeatMs: number;
    /** The pause before a write is repeated while MongoDB is down. */
    readonly writeMs: number;
    /** How long nothing is sent to a channel whose credentials were refused. */
    readonly stoppedChannelMs: number;
  };
  /** How rate limits of a channel's service are obeyed. */
  readonly channel: {
    /** Maximum time that a delivery waits in place. A longer wait releases it. */
    readonly maxWaitMs: number;
    /** How often deliveries check whether another one has finished probing the channel. */
    readonly probePollMs: number;
    /** Minimum pause after a limit, whatever time the service asks for. */
    readonly minLimitMs: number;
    /** First pause after a limit without a time. It doubles with each further limit. */
    readonly initialBackoffMs: number;
  };
  /** The messages that follow jobs. */
  readonly live: {
    /** The age from which a running job has a message: a shorter one has only that of its end. */
    readonly afterMs: number;
    /** How often changes are read, and chats are looked at whose turn may have come. */
    readonly everyMs: number;
    /** Factor of the pauses that services ask for. */
    readonly paceFactor: number;
  };
  /** How long a request waits for a worker to check the credentials of a channel, for which the worker has 10 s. */
  readonly channelCheckMs: number;
  readonly webhook: {
    /** Time limit of one request. */
    readonly timeoutMs: number;
    /** Minimum and maximum pause of a delivery that finds all permits of its receiver taken. */
    readonly minSlotMs: number;
    readonly maxSlotMs: number;
  };
  readonly traces: {
    /** How often the spans of what has ended are sent. */
    readonly everyMs: number;
    /** Time limit of one request. */
    readonly timeoutMs: number;
    /** The pause after a request has failed. It doubles with each further failure up to the maximum. */
    readonly retryMs: number;
    readonly maxRetryMs: number;
    /** The age from which spans are given up that cannot be sent. */
    readonly giveUpMs: number;
  };
  /** How often the slots of a Redis Cluster are read again: nothing else reveals a node that has stopped answering. */
  readonly clusterSlotsMs: number;
  /** How often a web process stores the requests to hooks that it has refused meanwhile. */
  readonly storeRefusedMs: number;
  /** How often a process adds the jobs that it has started and ended to the stored figures. */
  readonly storeFiguresMs: number;
  /** How often a stream of live events sends a heartbeat. */
  readonly liveHeartbeatMs: number;
  readonly readChanges: {
    /** How long Redis keeps a read of the change stream that finds no change. */
    readonly blockMs: number;
    /** How much longer such a read may take. Beyond that Redis counts as hanging. */
    readonly graceMs: number;
  };
  /** How often waiting requests read their record while Redis is unavailable. */
  readonly waitPollMs: number;
  readonly shutdown: {
    /** How long a stopping server keeps idle connections open, because a request may be arriving on one. */
    readonly idleConnectionMs: number;
    /** How long a program has between SIGTERM and SIGKILL. */
    readonly programMs: number;
  };
  /** How long the rest of a request body is read and discarded after an early response. */
  readonly drainBodyMs: number;
  /** Constants of several web processes that share a port. */
  readonly webProcesses: {
    /** The pause before a dead process is replaced. It doubles with each failed start. */
    readonly replaceMs: number;
    readonly maxReplaceMs: number;
    /** How long all processes have to report their metrics. */
    readonly metricsMs: number;
  };
}

/** The timings in production. */
export const TIMINGS: Timings = {
  lease: { durationMs: 15_000, renewEveryMs: 2_000, acquireEveryMs: 2_000 },
  queueLockMs: 15_000,
  sweep: { everyMs: 5_000, minAgeMs: 5_000, unservedMs: 600_000, outageMs: 60_000 },
  chat: { waitSeconds: 25, retryMs: 1_000, maxRetryMs: 30_000, silenceMs: 60_000, showMs: 2_000 },
  gateExpiryMs: 2_000,
  renewSchedulesMs: 60_000,
  retry: {
    runMs: [2_000, 10_000],
    deliveryMs: [2_000, 10_000, 60_000, 300_000, 1_800_000],
    // 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the schedule of Standard Webhooks 1.0.0
    webhookMs: [5_000, ...[5, 30, 120, 300, 600, 840, 1_200, 1_440].map((minutes) => minutes * 60_000)],
    heartbeatMs: 60_000,
    maxHeartbeatMs: 600_000, // so that the main session goes on soon after its model server is back
    writeMs: 500,
    stoppedChannelMs: 300_000,
  },
  channel: { maxWaitMs: 5_000, probePollMs: 200, minLimitMs: 1_000, initialBackoffMs: 5_000 },
  live: { afterMs: 5_000, everyMs: 250, paceFactor: 1 },
  channelCheckMs: 15_000,
  webhook: { timeoutMs: 20_000, minSlotMs: 5, maxSlotMs: 60_000 },
  traces: { everyMs: 5_000, timeoutMs: 10_000, retryMs: 5_000, maxRetryMs: 60_000, giveUpMs: 900_000 },
  clusterSlotsMs: 5_000,
  storeRefusedMs: 1_000,
  storeFiguresMs: 5_000,
  liveHeartbeatMs: 15_000,
  readChanges: { blockMs: 5_000, graceMs: 3_000 },
  waitPollMs: 1_000,
  shutdown: { idleConnectionMs: 500, programMs: 2_000 },
  drainBodyMs: 10_000, // longer than an honest client needs, shorter than a process takes to stop
  webProcesses: { replaceMs: 1_000, maxReplaceMs: 10_000, metricsMs: 5_000 },
};
