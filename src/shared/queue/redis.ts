import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import { hostsOf } from "../address.ts";
import { backoff } from "../backoff.ts";
import { describeUnusable } from "../describeUnusable.ts";
import type { Logger } from "../logger.ts";
import { StartError } from "../process/lifecycle.ts";
import { TIMINGS, type Timings } from "../timings.ts";
import { type RedisAddress, readClusterUrl } from "./redisAddress.ts";

/** A connection to one server, or to all nodes of a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * Connects for producers and probes. Commands fail at once while Redis is down, and after two seconds without an answer. In
 * a cluster a command waits some tenths of a second for another node to take over its keys. Each connection logs once when
 * it is lost and once when it is back.
 * @throws StartError when Redis cannot be used
 */
export async function connectProducer(
  address: RedisAddress,
  log: Logger,
  timings: ClusterTimings = TIMINGS,
): Promise<RedisConnection> {
  const redis = open(address, log, {
    common: { commandTimeout: 2_000, maxRetriesPerRequest: 0 },
    connection: { enableOfflineQueue: false, lazyConnect: true },
    cluster: { maxRedirections: 4 },
    clusterSlotsMs: timings.clusterSlotsMs,
  });
  let cause: Error | undefined;
  const onFailure = (error: Error) => {
    cause = error;
  };
  const failure = redis instanceof Redis ? "error" : "node error";
  redis.on(failure, onFailure);
  try {
    await redis.connect();
    if (redis instanceof Redis) await redis.ping(); // a cluster has already answered with its nodes
  } catch (error) {
    redis.disconnect();
    throw new StartError(unusable(address, cause ?? (error as Error)));
  } finally {
    redis.off(failure, onFailure);
  }
  const fault = redis instanceof Redis && (await serverFault(redis, address, cause));
  if (!fault) return redis;
  redis.disconnect();
  throw new StartError(fault);
}

/** Opens a connection for one blocking read, which fails when Redis is lost. It connects by itself. */
export function readerConnection(
  address: RedisAddress,
  log: Logger,
  timings: ClusterTimings = TIMINGS,
): RedisConnection {
  return open(address, log, {
    common: { maxRetriesPerRequest: 0 },
    connection: { enableOfflineQueue: false },
    cluster: { maxRedirections: 0 }, // another node may not have received every entry
    clusterSlotsMs: timings.clusterSlotsMs,
  });
}

/**
 * Opens a connection for workers, which waits for Redis to come back. It connects by itself: BullMQ's copy of a lazy
 * connection never starts working when Redis is lost during its first connect.
 */
export function workerConnection(
  address: RedisAddress,
  log: Logger,
  timings: ClusterTimings = TIMINGS,
): RedisConnection {
  return open(address, log, {
    common: { maxRetriesPerRequest: null },
    connection: {},
    cluster: {
      maxRedirections: Number.POSITIVE_INFINITY,
      retryDelayOnMoved: 50, // while two nodes redirect to each other
      retryDelayOnFailover: 500,
      retryDelayOnClusterDown: 500,
    },
    clusterSlotsMs: timings.clusterSlotsMs,
  });
}

/** Resolves when Redis answers and accepts commands, in a cluster every node that owns slots; otherwise rejects. */
export async function pingRedis(redis: RedisConnection): Promise<void> {
  if (redis instanceof Redis) return void (await redis.ping());
  const nodes = new Map(redis.nodes("master").map((node) => [`${node.options.host}:${node.options.port}`, node]));
  const owners = new Set(redis.slots.flatMap(([owner]) => owner ?? []));
  if (redis.status !== "ready" || owners.size === 0) throw new Error("the cluster is not ready");
  const check = async (owner: string) => {
    const state = String(await nodes.get(owner)?.cluster("INFO"));
    if (!state.includes("cluster_state:ok")) throw new Error(`${owner} is down`);
  };
  await Promise.all([...owners].map(check));
}

/**
 * Reads the version and the eviction policy of a server, or of one node of a cluster; undefined where it does not report
 * them.
 */
export async function readServerFacts(
  redis: RedisConnection,
): Promise<{ version: string | undefined; evictionPolicy: string | undefined }> {
  const info = await redis.info().catch(() => "");
  return {
    version: /^redis_version:(\S+)/m.exec(info)?.[1],
    evictionPolicy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1],
  };
}

type ClusterTimings = Pick<Timings, "clusterSlotsMs">;

interface OpenOptions extends ClusterTimings {
  /** Options of a connection to a server or to a node. */
  readonly common: Pick<RedisOptions, "commandTimeout" | "maxRetriesPerRequest">;
  readonly connection: Pick<RedisOptions & ClusterOptions, "enableOfflineQueue" | "lazyConnect">;
  readonly cluster: ClusterOptions;
}

const CONNECT_TIMEOUT_MS = 2_000;

/** Maximum time that a dropped connection takes to close. */
const CLOSE_TIMEOUT_MS = 20;
/** When connections were dropped, keyed by their options. */
const droppedAt = new WeakMap<object, number>();

/**
 * Drops a connection to a master that has become a replica, because the address may lead to the new master by now. All
 * pending commands fail at about the same time, so the connection is dropped only once.
 */
function reconnectOnError(this: unknown, { message }: Error): boolean {
  if (!/\bREADONLY\b/.test(message)) return false;
  const options = Object(this); // the options of the connection
  if (performance.now() - (droppedAt.get(options) ?? Number.NEGATIVE_INFINITY) < CLOSE_TIMEOUT_MS) return false;
  droppedAt.set(options, performance.now());
  return true;
}

const retryStrategy = backoff({ initialMs: 100, maxMs: 2_000 });

function open({ url, cluster, tls }: RedisAddress, log: Logger, options: OpenOptions): RedisConnection {
  const common = {
    ...options.common,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(url.startsWith("rediss:") && { tls: { ...tls } }),
  };
  if (!cluster)
    return withLog(new Redis(url, { ...common, ...options.connection, retryStrategy, reconnectOnError }), log);
  const address = readClusterUrl(url);
  if ("fault" in address) throw new Error(`redis.url ${address.fault}`); // the configuration check has refused such an address
  const { nodes, username, password } = address;
  return clusterWithLog(
    new Cluster([...nodes], {
      ...options.connection,
      ...options.cluster,
      redisOptions: { ...common, username, password },
      dnsLookup: (host, answer) => answer(null, host), // certificates contain names, not addresses
      clusterRetryStrategy: retryStrategy,
      enableReadyCheck: false, // a cluster that lacks a node is still used
      slotsRefreshInterval: options.clusterSlotsMs,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    }),
    log,
  );
}

function withLog(redis: Redis, log: Logger): Redis {
  let lost = false;
  let isClosed = false;
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    isClosed ||= !reconnect;
    disconnect(reconnect);
  };
  redis.on("error", (error: NodeJS.ErrnoException) => {
    if (isClosed) return; // a connection that was still connecting fails when it is closed
    if (!lost) log.warn({ code: error.code }, "Redis cannot be reached; the connection is retried");
    lost = true;
  });
  redis.on("ready", () => {
    if (lost) log.info("Redis can be reached again");
    lost = false;
  });
  return redis;
}

function clusterWithLog(cluster: Cluster, log: Logger): Cluster {
  let lost = false;
  const lose = ({ code }: NodeJS.ErrnoException, node?: string) => {
    if (!lost) log.warn({ code, node }, "a node of the Redis cluster cannot be reached; the connection is retried");
    lost = true;
  };
  cluster.on("node error", lose);
  cluster.on("error", lose);
  cluster.on("refresh", async () => {
    const isBack =
      lost &&
      (await pingRedis(cluster).then(
        () => true,
        () => false,
      ));
    if (!isBack || !lost) return;
    lost = false;
    log.info("Redis can be reached again");
  });
  return cluster;
}

/** Returns why a server that answers cannot be used; undefined when it can. @param cause the error while connecting */
async function serverFault(redis: Redis, address: RedisAddress, cause: Error | undefined): Promise<string | undefined> {
  if (await isClusterNode(redis)) {
    return `Redis at ${hostsOf(address.url)} is a node of a Redis Cluster: set REDIS_CLUSTER=true (redis.cluster in the configuration).`;
  }
  return cause && unusable(address, cause); // without its database the connection would use another one
}

/** Returns whether the server is a node of a cluster with several masters. */
async function isClusterNode(redis: Redis): Promise<boolean> {
  const info = await redis.cluster("INFO").catch(() => ""); // the server has no cluster support, or its user may not read it
  return /^cluster_size:(?!1\r?$)/m.test(String(info));
}

function unusable({ url, cluster }: RedisAddress, { name: kind, message, code }: NodeJS.ErrnoException): string {
  const name = `Redis${cluster ? " Cluster" : ""}`;
  if (message.includes("cluster support disabled")) {
    return `Redis at ${hostsOf(url)} is a single server and not a cluster: remove REDIS_CLUSTER (redis.cluster in the configuration).`;
  }
  const meaning = REFUSALS.find(([pattern]) => pattern.test(message))?.[1];
  const answer = meaning ?? (kind === "ReplyError" && `it answers ${message.split(" ")[0]}`); // the rest may quote a secret
  const setting = "REDIS_URL (redis.url in the configuration)";
  return describeUnusable(name, url, answer ? { answer } : { code }, setting, CERTIFICATE_REMEDY);
}

const CERTIFICATE_REMEDY =
  "name the authority of its certificate in REDIS_TLS_CA (redis.tls.ca), set REDIS_TLS_REJECT_UNAUTHORIZED=false (redis.tls.rejectUnauthorized) if nobody has signed it";

/** The errors with which Redis refuses a connection, and their meaning. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/NOAUTH/, "it requires a password"],
  [/WRONGPASS/, "the user or the password is wrong"],
  [/NOPERM/, "its user lacks a required permission"],
  [/DB index|out of range|SELECT/, "it has no database with this number"],
];
