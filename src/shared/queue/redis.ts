import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import { hostsOf } from "../address.ts";
import { describeUnusable } from "../describeUnusable.ts";
import { StartError } from "../lifecycle.ts";
import type { Logger } from "../logger.ts";
import { TIMINGS, type Timings } from "../timings.ts";
import { type RedisAddress, readClusterUrl } from "./redisAddress.ts";

/** To one server, or to all nodes of a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * Connects for producers and probes: commands fail at once while Redis is away, and late ones after two seconds. In a
 * cluster a command waits some tenths of a second for another node to have its keys.
 * Every connection says once in the log that it is lost and once that it is back.
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
  const note = (error: Error) => {
    cause = error;
  };
  const failure = redis instanceof Redis ? "error" : "node error";
  redis.on(failure, note);
  try {
    await redis.connect();
    if (redis instanceof Redis) await redis.ping(); // a cluster has told who its nodes are
  } catch (error) {
    redis.disconnect();
    throw new StartError(unusable(address, cause ?? (error as Error)));
  } finally {
    redis.off(failure, note);
  }
  const fault = redis instanceof Redis && (await serverFault(redis, address, cause));
  if (!fault) return redis;
  redis.disconnect();
  throw new StartError(fault);
}

/** A connection for one command that waits for news, and fails when Redis goes away. It connects by itself. */
export function readerConnection(
  address: RedisAddress,
  log: Logger,
  timings: ClusterTimings = TIMINGS,
): RedisConnection {
  return open(address, log, {
    common: { maxRetriesPerRequest: 0 },
    connection: { enableOfflineQueue: false },
    cluster: { maxRedirections: 0 }, // another node may not have had all of the news
    clusterSlotsMs: timings.clusterSlotsMs,
  });
}

/**
 * A connection that waits for Redis to come back, for workers. It connects by itself: what BullMQ makes of a lazy one
 * never begins to work when Redis goes away in the middle of its first connect.
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
      retryDelayOnMoved: 50, // for as long as two nodes name each other
      retryDelayOnFailover: 500,
      retryDelayOnClusterDown: 500,
    },
    clusterSlotsMs: timings.clusterSlotsMs,
  });
}

/** Resolves when Redis answers, of a cluster every node that owns slots, and takes commands; else rejects. */
export async function pingRedis(redis: RedisConnection): Promise<void> {
  if (redis instanceof Redis) return void (await redis.ping());
  const nodes = new Map(redis.nodes("master").map((node) => [`${node.options.host}:${node.options.port}`, node]));
  const owners = new Set(redis.slots.flatMap(([owner]) => owner ?? []));
  if (redis.status !== "ready" || owners.size === 0) throw new Error("the cluster is not ready");
  const ask = async (owner: string) => {
    const state = String(await nodes.get(owner)?.cluster("INFO"));
    if (!state.includes("cluster_state:ok")) throw new Error(`${owner} is away`);
  };
  await Promise.all([...owners].map(ask));
}

type ClusterTimings = Pick<Timings, "clusterSlotsMs">;

interface Manner extends ClusterTimings {
  /** Of a connection to a server or a node. */
  readonly common: Pick<RedisOptions, "commandTimeout" | "maxRetriesPerRequest">;
  readonly connection: Pick<RedisOptions & ClusterOptions, "enableOfflineQueue" | "lazyConnect">;
  readonly cluster: ClusterOptions;
}

const CONNECT_WITHIN_MS = 2_000;

/** So long a connection that is let go may take to close. */
const CLOSES_WITHIN_MS = 20;
/** When connections were let go, each known by its options. */
const letGo = new WeakMap<object, number>();

/**
 * A master that has become a replica keeps its connections: the address may lead to the new master by now. All that was under
 * way on one fails at about the same time; it is let go once.
 */
function reconnectOnError(this: unknown, { message }: Error): boolean {
  if (!/\bREADONLY\b/.test(message)) return false;
  const options = Object(this); // those of the connection
  if (performance.now() - (letGo.get(options) ?? Number.NEGATIVE_INFINITY) < CLOSES_WITHIN_MS) return false;
  letGo.set(options, performance.now());
  return true;
}

const retryStrategy = (tries: number): number => Math.min(50 * 2 ** tries, 2_000);

function open({ url, cluster }: RedisAddress, log: Logger, manner: Manner): RedisConnection {
  const common = { ...manner.common, connectTimeout: CONNECT_WITHIN_MS };
  if (!cluster)
    return watched(new Redis(url, { ...common, ...manner.connection, retryStrategy, reconnectOnError }), log);
  const address = readClusterUrl(url);
  if ("fault" in address) throw new Error(`redis.url ${address.fault}`); // the configuration was checked
  const { nodes, username, password, tls } = address;
  return watchedCluster(
    new Cluster([...nodes], {
      ...manner.connection,
      ...manner.cluster,
      redisOptions: { ...common, username, password, ...(tls && { tls: {} }) },
      dnsLookup: (host, answer) => answer(null, host), // certificates are of names
      clusterRetryStrategy: retryStrategy,
      enableReadyCheck: false, // one that is short of a node is used as it is
      slotsRefreshInterval: manner.clusterSlotsMs,
      slotsRefreshTimeout: CONNECT_WITHIN_MS,
    }),
    log,
  );
}

function watched(redis: Redis, log: Logger): Redis {
  let lost = false;
  let over = false;
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    over ||= !reconnect;
    disconnect(reconnect);
  };
  redis.on("error", (error: NodeJS.ErrnoException) => {
    if (over) return; // one that was still connecting fails then
    if (!lost) log.warn({ code: error.code }, "Redis cannot be reached; trying again");
    lost = true;
  });
  redis.on("ready", () => {
    if (lost) log.info("Redis is back");
    lost = false;
  });
  return redis;
}

function watchedCluster(cluster: Cluster, log: Logger): Cluster {
  let lost = false;
  const lose = ({ code }: NodeJS.ErrnoException, node?: string) => {
    if (!lost) log.warn({ code, node }, "Redis cannot be reached in full; trying again");
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
    log.info("Redis is back");
  });
  return cluster;
}

/** Why a server that answers cannot be used all the same. @param cause what it refused while we connected */
async function serverFault(redis: Redis, address: RedisAddress, cause: Error | undefined): Promise<string | undefined> {
  if (await isOneOfSeveral(redis)) {
    return `Redis at ${hostsOf(address.url)} is a node of a Redis Cluster: set REDIS_CLUSTER=true (redis.cluster in the configuration).`;
  }
  return cause && unusable(address, cause); // without the database it would serve from another
}

/** Whether other servers have a part of the keys. */
async function isOneOfSeveral(redis: Redis): Promise<boolean> {
  const info = await redis.cluster("INFO").catch(() => ""); // it is of no cluster, or that is not for this user to know
  return /^cluster_size:(?!1\r?$)/m.test(String(info));
}

function unusable({ url, cluster }: RedisAddress, { name: kind, message, code }: NodeJS.ErrnoException): string {
  const name = `Redis${cluster ? " Cluster" : ""}`;
  if (message.includes("cluster support disabled")) {
    return `${name} at ${hostsOf(url)} is no cluster but a server by itself: leave REDIS_CLUSTER (redis.cluster in the configuration) out.`;
  }
  const known = ANSWERS.find(([pattern]) => pattern.test(message))?.[1];
  const answer = known ?? (kind === "ReplyError" && `it answers ${message.split(" ")[0]}`); // more may quote
  return describeUnusable(name, url, answer ? { answer } : { code }, "REDIS_URL (redis.url in the configuration)");
}

/** What Redis refuses a connection with, and what that means. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/NOAUTH/, "it wants a password"],
  [/WRONGPASS/, "it does not know the user, or the password is another"],
  [/NOPERM/, "its user may not do all that is needed"],
  [/DB index|out of range|SELECT/, "it has no database of this number"],
];
