import { randomUUID } from "node:crypto";
import type { AppSettings } from "../../src/api/app.ts";
import type { Probe } from "../../src/api/deps.ts";
import type { ListenOptions } from "../../src/api/server.ts";
import { startWeb } from "../../src/api/web.ts";
import { connectDatabase, type Database } from "../../src/models/db/database.ts";
import type { Stores } from "../../src/models/stores.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import type { Config } from "../../src/shared/config/schema/config.ts";
import { Lifecycle } from "../../src/shared/lifecycle.ts";
import type { Queues } from "../../src/shared/queue/producer.ts";
import { connectProducer } from "../../src/shared/queue/redis.ts";
import { takeDatabase } from "./databases.ts";
import { logLines } from "./logLines.ts";
import { redisUrl } from "./servers.ts";
import { FAST_TIMINGS } from "./timings.ts";

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
  /** Its database. */
  readonly mongoUri: string;
  /** The Redis that it uses. */
  readonly redisUrl: string;
  /** The prefix of its keys there. */
  readonly prefix: string;
  /** What the service logged, one object a line. */
  readonly log: Record<string, unknown>[];
  /** Sends a request; a body that is no string goes as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** How many connections of clients are open. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

type ServerSettings = Partial<Config["server"]>;

type Options = ServerSettings &
  Partial<
    Pick<AppSettings, "strict" | "bodies" | "countFailure"> & Pick<ListenOptions, "limits" | "maxConnections">
  > & {
    /** The queues' prefix, where a process of its own is to share them. */
    prefix?: string;
    /** A configuration file's text, for what the options do not say. */
    config?: string;
    staleAfterSeconds?: number;
    /** One that was free a moment ago, for an app that is to come back where another was. */
    port?: number;
    mongo?: string;
    redis?: string;
    probes?: readonly Probe[];
  };

/** The real API on a port of its own, over a database and a queue prefix of its own, with the strict check on. */
export async function startApp(options: Options = {}): Promise<TestApp> {
  const { mongo, redis: url = await redisUrl(), prefix = `test-${randomUUID()}`, config: text, ...rest } = options;
  const { staleAfterSeconds, port = 0, probes, strict = true, bodies, countFailure, ...more } = rest;
  const { limits, maxConnections, ...server } = more;
  const lifecycle = new Lifecycle();
  const clock = new TestClock();
  const { log, lines } = logLines();
  const { uri, database } = await openDatabase(lifecycle, mongo);
  const read = parseConfig(text, {});
  const config: Config = {
    ...read,
    server: { ...read.server, ...server, port },
    redis: { ...read.redis, prefix },
    jobs: { ...read.jobs, ...(staleAfterSeconds !== undefined && { staleAfterSeconds }) },
  };
  const redis = await connectProducer({ url }, log);
  lifecycle.onClose("Redis", async () => redis.disconnect());
  const overrides = {
    app: { strict, ...(bodies && { bodies }), ...(countFailure && { countFailure }) },
    listen: { host: "127.0.0.1", ...(limits && { limits }), ...(maxConnections && { maxConnections }) },
    ...(probes && { probes }),
  };
  const web = await startWeb(lifecycle, config, {
    ...{ database, redis, clock, log, overrides },
    redisAddress: { url },
    timings: FAST_TIMINGS,
  });
  return {
    ...{ url: web.url, clock, stores: web.stores, database, queues: web.queues, config, log: lines },
    ...{ mongoUri: uri, redisUrl: url, prefix },
    connections: web.connections,
    call: (method, path, body, headers) => call(web.url, method, path, body, headers),
    close: () =>
      lifecycle.close((name, error) => {
        throw new Error(`${name} did not close well`, { cause: error });
      }),
  };
}

async function openDatabase(lifecycle: Lifecycle, uri?: string): Promise<{ uri: string; database: Database }> {
  if (uri === undefined) {
    const { giveBack, ...taken } = await takeDatabase();
    lifecycle.onClose("database", giveBack);
    return taken;
  }
  const database = await connectDatabase(uri);
  lifecycle.onClose("MongoDB", () => database.close());
  await database.createIndexes();
  return { uri, database };
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
