import { ChatAccess } from "../config/channels/chatAccess.ts";
import type { Config } from "../config/config.ts";
import { redactConfig } from "../config/redact.ts";
import type { Database } from "../models/database.ts";
import { JobFigures } from "../models/figures/jobFigures.ts";
import { JobTokens } from "../models/jobs/tokens/jobTokens.ts";
import { openStores, type Stores, storeSettings } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { Lifecycle } from "../shared/process/lifecycle.ts";
import { version } from "../shared/process/version.ts";
import { readChanges } from "../shared/queue/changeReader.ts";
import { RedisChangeStream } from "../shared/queue/changeStream.ts";
import { Queues } from "../shared/queue/producer.ts";
import { pingRedis, type RedisConnection, readerConnection } from "../shared/queue/redis.ts";
import type { RedisAddress } from "../shared/queue/redisAddress.ts";
import type { Timings } from "../shared/timings.ts";
import { type AppSettings, buildApp } from "./app.ts";
import { failureCounter } from "./auth/refusals.ts";
import { SnsClient, type SnsFetch } from "./auth/snsClient.ts";
import { stillValid } from "./auth/stillValid.ts";
import { metricsReader } from "./cluster.ts";
import type { Probe } from "./deps.ts";
import { RefusedRequests } from "./inbox/refusedRequests.ts";
import { LiveFeed } from "./live/liveFeed.ts";
import { RunFeed } from "./live/runFeed.ts";
import { WaitingRequests } from "./live/waitingRequests.ts";
import { addDependencyMetrics } from "./metrics/dependencyMetrics.ts";
import { addGmailMetrics } from "./metrics/gmailMetrics.ts";
import { Metrics } from "./metrics/metrics.ts";
import { AnswerBudget } from "./middleware/answerBudget.ts";
import { type ListenOptions, listen } from "./server.ts";
import { readServers } from "./servers.ts";

export interface WebDeps {
  /** The value of the configuration file before variables are filled in. */
  readonly written: unknown;
  readonly database: Database;
  /** The connection of the queues' producers. */
  readonly redis: RedisConnection;
  /** The address of the same server, for the separate connection that reads live events. */
  readonly redisAddress: RedisAddress;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  /** Reads the metrics of the worker that `signalbox start` runs beside this process. */
  readonly readWorkerMetrics?: () => Promise<string>;
  /** For tests: settings, probes and limits that replace those of the service. */
  readonly overrides?: {
    readonly app?: Partial<AppSettings>;
    readonly listen?: Partial<ListenOptions>;
    readonly probes?: readonly Probe[];
    readonly answers?: AnswerBudget;
    /** Sends the requests to Amazon SNS. */
    readonly snsFetch?: SnsFetch;
  };
}

/** A running web process. */
export interface Web {
  readonly url: string;
  readonly stores: Stores;
  readonly queues: Queues;
  /** Returns the number of open client connections. */
  connections(): Promise<number>;
  /** Returns the number of requests that wait (`Prefer: wait`). */
  waiting(): number;
  /** Stores what it writes some time after the response: figures of jobs, refused requests and changes. */
  flush(): Promise<void>;
  /** Applies a changed configuration to new requests; requests in flight finish with the former one. */
  apply(config: Config, written: unknown): void;
}

/**
 * Starts the API: stores, queues, live events and the HTTP server. The lifecycle closes them in reverse order.
 * @throws StartError when the address cannot be bound
 */
export async function startWeb(lifecycle: Lifecycle, config: Config, deps: WebDeps): Promise<Web> {
  const { database, redis, clock, log, timings, overrides = {} } = deps;
  const { prefix } = config.redis;
  const queues = new Queues(redis, prefix, clock);
  lifecycle.onClose("queues", () => queues.close());
  const changes = new RedisChangeStream(redis, prefix);
  lifecycle.onClose("changes", () => changes.flush());
  const figures = new JobFigures(database.documents.jobFigures, { clock, log, storeEveryMs: timings.storeFiguresMs });
  lifecycle.onClose("job figures", () => figures.flush());
  const createStores = (config: Config) =>
    openStores(database, clock, { ...storeSettings(config), changes, notes: queues, counter: figures });
  const stores = createStores(config);
  const feedDeps = { clock, log, prefix, redis, heartbeatMs: timings.liveHeartbeatMs, pollMs: timings.waitPollMs };
  const live = new LiveFeed(stores, feedDeps);
  const runFeed = new RunFeed(stores, feedDeps);
  const waiting = new WaitingRequests({
    clock,
    maxWaiting: config.server.maxWaiting,
    pollMs: timings.waitPollMs,
    stillValid: (caller) => stillValid(stores, caller),
  });
  const reader = readerConnection(deps.redisAddress, log, timings);
  const reading = readChanges(reader, prefix, [live, runFeed, waiting], timings.readChanges);
  lifecycle.onClose("live events", async () => {
    live.close();
    runFeed.close();
    waiting.close();
    await reading.close();
  });

  const refusedRequests = new RefusedRequests({
    hookRequests: stores.hookRequests,
    clock,
    log,
    storeEveryMs: timings.storeRefusedMs,
  });
  lifecycle.onClose("refused requests", () => refusedRequests.flush());
  let stopping = false;
  let current = config;
  const metrics = new Metrics(
    () => queues.depths(),
    () => stores.mainEvents.countWaiting(),
    () => live.size + runFeed.size,
    () => http.connections(),
    () => stores.jobStats.read(),
  );
  const readMailbox = async () => {
    const { gmail } = current.hooks;
    return gmail ? stores.gmailMailboxes.find(gmail.account) : null;
  };
  addGmailMetrics(metrics.registry, readMailbox, clock);
  const shared = {
    countFailure: failureCounter(redis, prefix),
    readMetrics: metricsReader(metrics.registry, deps.readWorkerMetrics),
    drainBodyMs: timings.drainBodyMs,
  };
  const probes = [
    { name: "mongodb", check: () => database.ping() },
    { name: "redis", check: () => pingRedis(redis) },
  ];
  addDependencyMetrics(metrics.registry, probes);
  const answers = overrides.answers ?? new AnswerBudget();
  const sns = new SnsClient(clock, overrides.snsFetch);
  const createHandler = (config: Config, written: unknown, stores: Stores) => {
    const { jobs, hooks, agents, channels, session, server, outbound, notify, expect } = config;
    return buildApp(
      {
        stores,
        queues,
        hooks,
        notify,
        expect,
        log,
        metrics,
        live,
        runFeed,
        waiting,
        answers,
        refusedRequests,
        clock,
        sns,
        probes: overrides.probes ?? probes,
        shownConfig: redactConfig(config, written),
        publicUrl: server.publicUrl,
        basePath: server.basePath ?? "",
        hooksUrl: (server.publicUrl ?? server.basePath ?? "") + hooks.path,
        readServers: () => readServers(database, redis, queues),
        jobTokens: new JobTokens(stores, clock, server),
        deleteAll: jobs.deleteAll,
        agents,
        channels: new Set(Object.keys(channels)),
        access: new ChatAccess(channels),
        chats: channels,
        channelCheckMs: timings.channelCheckMs,
        initialReplyTarget: session.main ?? null,
        callbackHosts: outbound?.allowedHosts,
        maxReturns: agents.returns.maxDepth,
        isStopping: () => stopping,
      },
      { version, ...server, ...shared, ...overrides.app },
    ).callback();
  };
  let handler = createHandler(config, deps.written, stores);
  const http = await listen((req, res) => void handler(req, res), {
    ...config.server,
    isStopping: () => stopping,
    idleGraceMs: timings.shutdown.idleConnectionMs,
    ...overrides.listen,
  });
  lifecycle.onClose("HTTP server", () => {
    stopping = true;
    live.end();
    runFeed.end();
    waiting.end();
    return http.close();
  });
  return {
    url: http.url + (config.server.basePath ?? ""),
    stores,
    queues,
    connections: http.connections,
    waiting: () => waiting.size,
    flush: async () => void (await Promise.all([figures.flush(), refusedRequests.flush(), changes.flush()])),
    apply(changed, written) {
      current = changed;
      const changedStores = createStores(changed);
      handler = createHandler(changed, written, changedStores);
      live.restart(changedStores);
      runFeed.restart(changedStores);
      waiting.restart();
      waiting.maxWaiting = changed.server.maxWaiting;
    },
  };
}
