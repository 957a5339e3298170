import { randomUUID } from "node:crypto";
import type { AppSettings } from "../../src/api/app.ts";
import type { SnsFetch } from "../../src/api/auth/snsClient.ts";
import type { Probe } from "../../src/api/deps.ts";
import type { AnswerBudget } from "../../src/api/middleware/answerBudget.ts";
import type { ListenOptions } from "../../src/api/server.ts";
import { startWeb } from "../../src/api/web.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig, parseFile } from "../../src/config/load.ts";
import { connectDatabase, type Database } from "../../src/models/database.ts";
import type { Stores } from "../../src/models/stores.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { Lifecycle } from "../../src/shared/process/lifecycle.ts";
import type { Queues } from "../../src/shared/queue/producer.ts";
import { connectProducer, type RedisConnection } from "../../src/shared/queue/redis.ts";
import type { Timings } from "../../src/shared/timings.ts";
import { logLines } from "./logLines.ts";
import { acquireDatabase } from "./servers/databases.ts";
import { redisUrl } from "./servers/servers.ts";
import { FAST_TIMINGS } from "./timings.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** The system clock, advanced by the time that a test adds. */
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
  /** The connection of its producers. */
  readonly redis: RedisConnection;
  readonly config: Config;
  /** The URI of its database. */
  readonly mongoUri: string;
  /** The URL of its Redis. */
  readonly redisUrl: string;
  /** The prefix of its Redis keys. */
  readonly prefix: string;
  /** The service's log, one object per line. */
  readonly log: Record<string, unknown>[];
  /** Sends a request. A body that is not a string is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Returns the number of open client connections. */
  connections(): Promise<number>;
  /** Returns the number of requests that wait (`Prefer: wait`). */
  waiting(): number;
  /** Waits until every delayed write has been made. Call it before you read or compare a whole database. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

type ServerSettings = Partial<Config["server"]>;

type Options = ServerSettings &
  Partial<
    Pick<AppSettings, "strict" | "bodies" | "countFailure"> & Pick<ListenOptions, "limits" | "maxConnections">
  > & {
    /** The queues' prefix, for sharing them with another process. */
    prefix?: string;
    /** The text of a configuration file, for settings without an option. */
    config?: string;
    /** The variables that the file refers to. */
    env?: Readonly<Record<string, string>>;
    staleAfterSeconds?: number;
    /** A fixed port, for an app that replaces another at its address. */
    port?: number;
    mongo?: string;
    redis?: string;
    probes?: readonly Probe[];
    answers?: AnswerBudget;
    /** Sends the requests to Amazon SNS. */
    snsFetch?: SnsFetch;
    /** The time constants that differ from `FAST_TIMINGS`. */
    timings?: Partial<Timings>;
  };

/** Starts the real API on its own port, database and queue prefix, with the strict check of responses. */
export async function startApp(options: Options = {}): Promise<TestApp> {
  const {
    mongo,
    redis: url = await redisUrl(),
    prefix = `test-${randomUUID()}`,
    config: text,
    env = {},
    ...rest
  } = options;
  const { staleAfterSeconds, port = 0, probes, answers, snsFetch, strict = true, bodies, countFailure, ...more } = rest;
  const { timings, limits, maxConnections, ...server } = more;
  const lifecycle = new Lifecycle();
  const clock = new TestClock();
  const { log, lines } = logLines();
  const { uri, database } = await openDatabase(lifecycle, mongo);
  const read = parseConfig(text, env);
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
    ...(answers && { answers }),
    ...(snsFetch && { snsFetch }),
  };
  const web = await startWeb(lifecycle, config, {
    written: parseFile(text, "test"),
    database,
    redis,
    clock,
    log,
    overrides,
    redisAddress: { url },
    timings: { ...FAST_TIMINGS, ...timings },
  });
  return {
    url: web.url,
    clock,
    stores: web.stores,
    database,
    queues: web.queues,
    redis,
    config,
    log: lines,
    mongoUri: uri,
    redisUrl: url,
    prefix,
    connections: web.connections,
    waiting: web.waiting,
    settled: web.flush,
    call: (method, path, body, headers) => call(web.url, method, path, body, headers),
    close: () =>
      lifecycle.close((name, error) => {
        throw new Error(`${name} did not close well: ${error}`, { cause: error });
      }),
  };
}

async function openDatabase(lifecycle: Lifecycle, uri?: string): Promise<{ uri: string; database: Database }> {
  if (uri === undefined) {
    const { release, ...acquired } = await acquireDatabase();
    lifecycle.onClose("database", release);
    return acquired;
  }
  const database = await connectDatabase(uri);
  lifecycle.onClose("MongoDB", () => database.close());
  await database.prepare();
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

/** Returns the headers of a caller with a token. */
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
