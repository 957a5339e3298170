import { randomUUID } from "node:crypto";
import { type AppSettings, buildApp } from "../../src/api/app.ts";
import { metricsReader } from "../../src/api/cluster.ts";
import type { Probe } from "../../src/api/deps.ts";
import { LiveFeed } from "../../src/api/live/liveFeed.ts";
import { Metrics } from "../../src/api/metrics.ts";
import { failureCounter } from "../../src/api/middleware/auth.ts";
import { type ListenOptions, listen } from "../../src/api/server.ts";
import { connectDatabase, type Database } from "../../src/models/database.ts";
import { openStores, type Stores } from "../../src/models/stores.ts";
import { RedisChanges } from "../../src/shared/changes.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { parseConfig } from "../../src/shared/config.ts";
import type { Config } from "../../src/shared/configSchema.ts";
import { Queues } from "../../src/shared/enqueue.ts";
import { connectProducer, readerConnection } from "../../src/shared/redis.ts";
import { logLines } from "./logLines.ts";
import { mongoUri, redisUrl } from "./servers.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** A clock that goes, as far ahead as a test has moved it. */
class TestClock {
  #ahead = 0;
  now(): Date {
    return new Date(systemClock.now().getTime() + this.#ahead);
  }
  advance(ms: number): void {
    this.#ahead += ms;
  }
}

export interface TestApp {
  readonly url: string;
  readonly clock: TestClock;
  readonly stores: Stores;
  readonly database: Database;
  readonly queues: Queues;
  readonly config: Config;
  /** The prefix of its keys in Redis. */
  readonly prefix: string;
  /** What the service logged, one object a line. */
  readonly log: Record<string, unknown>[];
  /** Sends a request; a body that is no string goes as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** How many connections of clients are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

type Options = Partial<AppSettings & Pick<ListenOptions, "limits" | "maxConnections">> & {
  /** The queues' prefix, where a process of its own is to share them. */
  prefix?: string;
  /** A configuration file's text, for what the options do not say. */
  config?: string;
  staleAfterSeconds?: number;
  /** One that was free a moment ago, for an app that is to come back where another was. */
  port?: number;
  mongo?: string;
  redis?: string;
  probes?: Probe[];
};

/** The real API on a port of its own, over a database and a queue prefix of its own, with the strict check on. */
export async function startApp(options: Options = {}): Promise<TestApp> {
  const name = `test-${randomUUID()}`;
  const clock = new TestClock();
  const { log, lines } = logLines();
  const database = await connectDatabase(options.mongo ?? (await mongoUri(name)));
  await database.createIndexes();
  const url = options.redis ?? (await redisUrl());
  const redis = await connectProducer({ url }, log);
  const prefix = options.prefix ?? name;
  const queues = new Queues(redis, prefix);
  const config = parseConfig(options.config, {});
  const changes = new RedisChanges(redis, prefix);
  const stores = openStores(database, clock, { staleAfterSeconds: options.staleAfterSeconds ?? 900 }, changes);
  const live = new LiveFeed(stores, { clock, log, prefix, redis, reader: readerConnection({ url }, log) });
  const metrics = new Metrics(
    () => queues.depths(),
    () => stores.events.countWaiting(),
    () => live.size,
  );
  const probes = options.probes ?? [
    { name: "mongodb", check: () => database.ping() },
    { name: "redis", check: () => redis.ping() },
  ];
  const app = buildApp(
    {
      ...{ stores, queues, live, clock, log, metrics, probes },
      hooks: config.hooks,
      agent: config.agents.defaults,
      channels: new Set(Object.keys(config.channels)),
      firstRoute: config.session.main ?? null,
      isStopping: () => false,
    },
    {
      version: "0.0.0-test",
      host: "127.0.0.1",
      allowedHosts: [],
      trustProxy: 0,
      bodyLimit: 4 * 1024 * 1024,
      strict: true,
      countFailure: failureCounter(redis, name),
      readMetrics: metricsReader(metrics.registry),
      ...options,
    },
  );
  const http = await listen(app.callback(), {
    ...{ port: options.port ?? 0, host: "127.0.0.1", isStopping: () => true },
    ...(options.limits && { limits: options.limits }),
    ...(options.maxConnections && { maxConnections: options.maxConnections }),
  });
  return {
    url: http.url,
    clock,
    stores,
    database,
    queues,
    config,
    prefix,
    log: lines,
    connections: http.connections,
    call: (method, path, body, headers) => call(http.url, method, path, body, headers),
    async close() {
      live.end();
      await http.close();
      await live.close();
      await changes.flush();
      await queues.close();
      redis.disconnect();
      await database.close();
    },
  };
}

async function call(url: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.includes("json");
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
}
