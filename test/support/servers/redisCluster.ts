import { randomInt } from "node:crypto";
import { Redis } from "ioredis";
import { eventually } from "../eventually.ts";
import { isFree, startRedis, type TestServer } from "./servers.ts";

const MASTERS = 3;
const SLOTS = 16_384;
/** The time without a response after which a node is replaced by its replica. */
const NODE_TIMEOUT_MS = 1_500;
const PASSWORD = "p@ss:word,/1%";
const WITHIN_MS = 60_000;
/** Polling interval: each poll opens connections of its own. */
const LOOK_EVERY_MS = 100;
/** The offset of a node's cluster bus port. */
const BUS = 10_000;
const LOWEST_PORT = 12_000;

/** A Redis Cluster of a test, which stores only the cluster's state on disk. */
export interface RedisCluster {
  /** The URL of each initial master, with the password. */
  readonly urls: readonly string[];
  /** The URL of all nodes, in the format of REDIS_URL. */
  readonly url: string;
  /** Returns the current master of a key, and its replica. */
  ownersOf(key: string): Promise<{ master: TestServer; replica: TestServer }>;
  /** Sends a command to one node. */
  ask<T>(node: TestServer, question: (redis: Redis) => Promise<T>): Promise<T>;
  /** Waits until every running node reports that all slots are served. */
  healthy(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts three masters with a replica each. If one is down without a replica, the others keep working. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const settings = [
    ...["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1", "--cluster-require-full-coverage", "no"],
    ...["--cluster-node-timeout", String(NODE_TIMEOUT_MS), "--cluster-replica-validity-factor", "0"],
    ...["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"],
    ...["--requirepass", PASSWORD, "--masterauth", PASSWORD],
  ];
  const ports = await freeNodePorts(2 * MASTERS);
  const nodes = await Promise.all(ports.map((port) => startRedis(settings, port)));
  const [masters, replicas] = [nodes.slice(0, MASTERS), nodes.slice(MASTERS)];
  await Promise.all(masters.map(giveSlots));
  await ask(nodes[0] as TestServer, async (redis) => {
    for (const port of ports) await redis.cluster("MEET", "127.0.0.1", port);
  });
  await Promise.all(replicas.map((node, i) => follow(node, masters[i] as TestServer)));
  await eventually(
    async () => (await Promise.all(nodes.map((node) => ask(node, knowsAll)))).every(Boolean),
    "all nodes to know all others",
    WITHIN_MS,
    LOOK_EVERY_MS,
  );

  const credentials = `:${encodeURIComponent(PASSWORD)}@`;
  const hosts = masters.map(({ url }) => new URL(url).host);
  const at = (port: number) => nodes.find(({ url }) => url.endsWith(`:${port}`)) as TestServer;
  const cluster: RedisCluster = {
    urls: hosts.map((host) => `redis://${credentials}${host}`),
    url: `redis://${credentials}${hosts}`,
    ask,
    async ownersOf(key) {
      const ports = await Promise.any(nodes.map((node) => ask(node, (redis) => portsOf(redis, key))));
      return { master: at(ports.master), replica: at(ports.replica) };
    },
    async healthy() {
      const states = () => Promise.all(nodes.map((node) => ask(node, isWhole).catch(() => null)));
      await eventually(
        async () => !(await states()).includes(false),
        "the cluster to be healthy",
        WITHIN_MS,
        LOOK_EVERY_MS,
      );
    },
    remove: async () => void (await Promise.all(nodes.map((node) => node.remove()))),
  };
  await cluster.healthy();
  return cluster;
}

async function portsOf(redis: Redis, key: string): Promise<{ master: number; replica: number }> {
  const slot = Number(await redis.cluster("KEYSLOT", key));
  const owner = (await redis.cluster("SLOTS")).find(([from, to]) => from <= slot && slot <= to)?.[2];
  if (!owner) throw new Error(`nobody has ${key}`);
  const [, master, id] = owner;
  return { master, replica: Number(/:(\d+)@/.exec(String(await redis.cluster("REPLICAS", id)))?.[1]) };
}

/** Assigns a third of the slots to a master. */
async function giveSlots(node: TestServer, n: number): Promise<void> {
  const [from, to] = [n, n + 1].map((i) => Math.round((i * SLOTS) / MASTERS)) as [number, number];
  await ask(node, async (redis) => {
    await redis.cluster("SET-CONFIG-EPOCH", n + 1);
    await redis.cluster("ADDSLOTS", ...Array.from({ length: to - from }, (_, i) => from + i));
  });
}

async function follow(node: TestServer, master: TestServer): Promise<void> {
  const id = await ask(master, (redis) => redis.cluster("MYID"));
  await ask(node, async (redis) => {
    const knowsMaster = async () => String(await redis.cluster("NODES")).includes(`${id} 127`);
    await eventually(knowsMaster, "a node to know its master");
    await redis.cluster("REPLICATE", id);
    const isLinked = async () => (await redis.info("replication")).includes("master_link_status:up");
    await eventually(isLinked, "a replica to have what its master has");
  });
}

async function knowsAll(redis: Redis): Promise<boolean> {
  const nodes = String(await redis.cluster("NODES"))
    .trim()
    .split("\n");
  return nodes.length === 2 * MASTERS && nodes.filter((line) => line.includes("slave")).length === MASTERS;
}

async function isWhole(redis: Redis): Promise<boolean> {
  const state = String(await redis.cluster("INFO"));
  return state.includes("cluster_state:ok") && state.includes(`cluster_slots_ok:${SLOTS}`);
}

/** Sends a command to one node and disconnects. */
async function ask<T>({ url }: TestServer, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { password: PASSWORD, lazyConnect: true, retryStrategy: null, commandTimeout: 10_000 });
  redis.on("error", () => {}); // The caller gets the error of its command.
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

/** Ports below the ephemeral range, so that a node finds its two ports free when it restarts. */
export async function freeNodePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = LOWEST_PORT + randomInt(BUS);
    if ((await isFree(port)) && (await isFree(port + BUS))) ports.add(port);
  }
  return [...ports];
}
