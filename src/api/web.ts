import type { Database } from "../models/db/database.ts";
import { openStores, type Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Config } from "../shared/config/schema/config.ts";
import type { Lifecycle } from "../shared/lifecycle.ts";
import type { Logger } from "../shared/logger.ts";
import { RedisChangeStream } from "../shared/queue/changeStream.ts";
import { Queues } from "../shared/queue/producer.ts";
import { pingRedis, type RedisConnection, readerConnection } from "../shared/queue/redis.ts";
import type { RedisAddress } from "../shared/queue/redisAddress.ts";
import type { Timings } from "../shared/timings.ts";
import { version } from "../shared/version.ts";
import { type AppSettings, buildApp } from "./app.ts";
import { failureCounter } from "./auth/tokenVerifier.ts";
import { metricsReader } from "./cluster.ts";
import type { Probe } from "./deps.ts";
import { LiveFeed } from "./live/liveFeed.ts";
import { addGmailMetrics } from "./metrics/gmailMetrics.ts";
import { Metrics } from "./metrics/metrics.ts";
import { type ListenOptions, listen } from "./server.ts";

export interface WebDeps {
  readonly database: Database;
  /** The connection of the queues' producers. */
  readonly redis: RedisConnection;
  /** The address of the same server, for the separate connection that reads live events. */
  readonly redisAddress: RedisAddress;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  /** For tests: settings and probes that replace those of the service. */
  readonly overrides?: {
    readonly app?: Partial<AppSettings>;
    readonly listen?: Partial<ListenOptions>;
    readonly probes?: readonly Probe[];
  };
}

/** A running web process. */
export interface Web {
  readonly url: string;
  readonly stores: Stores;
  readonly queues: Queues;
  /** Returns the number of open client connections. */
  connections(): Promise<number>;
  /** Applies a changed configuration to new requests; requests in flight finish with the former one. */
  apply(config: Config): void;
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
  const createStores = ({ jobs }: Config) => openStores(database, clock, jobs, changes);
  const stores = createStores(config);
  const live = new LiveFeed(stores, {
    ...{ clock, log, prefix, redis, heartbeatMs: timings.liveHeartbeatMs },
    reader: readerConnection(deps.redisAddress, log, deps.timings),
  });
  lifecycle.onClose("live events", () => live.close());

  let stopping = false;
  let current = config;
  const metrics = new Metrics(
    () => queues.depths(),
    () => stores.events.countWaiting(),
    () => live.size,
    () => http.connections(),
  );
  const readMailbox = async () => {
    const { gmail } = current.hooks;
    return gmail ? stores.gmailMailboxes.find(gmail.account) : null;
  };
  addGmailMetrics(metrics.registry, readMailbox, clock);
  const shared = {
    countFailure: failureCounter(redis, prefix),
    readMetrics: metricsReader(metrics.registry),
    drainBodyMs: timings.drainBodyMs,
  };
  const probes = [
    { name: "mongodb", check: () => database.ping() },
    { name: "redis", check: () => pingRedis(redis) },
  ];
  const createHandler = ({ hooks, agents, channels, session, server }: Config, stores: Stores) =>
    buildApp(
      {
        ...{ stores, queues, hooks, log, metrics, live, clock, probes: overrides.probes ?? probes },
        agent: agents.defaults,
        channels: new Set(Object.keys(channels)),
        initialReplyTarget: session.main ?? null,
        isStopping: () => stopping,
      },
      { version, ...server, ...shared, ...overrides.app },
    ).callback();
  let handler = createHandler(config, stores);
  const http = await listen((req, res) => void handler(req, res), {
    ...config.server,
    isStopping: () => stopping,
    idleGraceMs: timings.shutdown.idleConnectionMs,
    ...overrides.listen,
  });
  lifecycle.onClose("HTTP server", () => {
    stopping = true;
    live.end();
    return http.close();
  });
  return {
    ...{ url: http.url + (config.server.basePath ?? ""), stores, queues, connections: http.connections },
    apply(changed) {
      current = changed;
      const changedStores = createStores(changed);
      handler = createHandler(changed, changedStores);
      live.restart(changedStores);
    },
  };
}
