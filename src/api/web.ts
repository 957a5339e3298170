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
import { failureCounter } from "./auth/tokens.ts";
import { metricsReader } from "./cluster.ts";
import type { Probe } from "./deps.ts";
import { LiveFeed } from "./live/liveFeed.ts";
import { addGmailMetrics } from "./metrics/gmailMetrics.ts";
import { Metrics } from "./metrics/metrics.ts";
import { type ListenOptions, listen } from "./server.ts";

export interface WebDeps {
  readonly database: Database;
  /** The producers' connection. */
  readonly redis: RedisConnection;
  /** The same server: live events are read by a connection of their own. */
  readonly redisAddress: RedisAddress;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
  /** For tests: what takes the place of the service's own settings and probes. */
  readonly overrides?: {
    readonly app?: Partial<AppSettings>;
    readonly listen?: Partial<ListenOptions>;
    readonly probes?: readonly Probe[];
  };
}

/** A web process that serves. */
export interface Web {
  readonly url: string;
  readonly stores: Stores;
  readonly queues: Queues;
  /** How many connections of clients are open. */
  connections(): Promise<number>;
  /** Serves requests by another configuration from now on; those under way are answered as they began. */
  apply(config: Config): void;
}

/**
 * Starts the API: stores, queues, live events and the HTTP server, each closed by the lifecycle in reverse order.
 * @throws StartError when the address cannot be bound
 */
export async function startWeb(lifecycle: Lifecycle, config: Config, deps: WebDeps): Promise<Web> {
  const { database, redis, clock, log, timings, overrides = {} } = deps;
  const { prefix } = config.redis;
  const queues = new Queues(redis, prefix, clock);
  lifecycle.onClose("queues", () => queues.close());
  const changes = new RedisChangeStream(redis, prefix);
  lifecycle.onClose("changes", () => changes.flush());
  const storesOf = ({ jobs }: Config) => openStores(database, clock, jobs, changes);
  const stores = storesOf(config);
  const live = new LiveFeed(stores, {
    ...{ clock, log, prefix, redis, beatMs: timings.liveHeartbeatMs },
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
  const handlerOf = ({ hooks, agents, channels, session, server }: Config, stores: Stores) =>
    buildApp(
      {
        ...{ stores, queues, hooks, log, metrics, live, clock, probes: overrides.probes ?? probes },
        agent: agents.defaults,
        channels: new Set(Object.keys(channels)),
        firstRoute: session.main ?? null,
        isStopping: () => stopping,
      },
      { version, ...server, ...shared, ...overrides.app },
    ).callback();
  let handler = handlerOf(config, stores);
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
    ...{ url: http.url, stores, queues, connections: http.connections },
    apply(changed) {
      current = changed;
      const changedStores = storesOf(changed);
      handler = handlerOf(changed, changedStores);
      live.restart(changedStores);
    },
  };
}
