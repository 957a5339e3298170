import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { mongo } from "mongoose";
import pino from "pino";
import { StartError } from "../../../../src/shared/process/lifecycle.ts";
import { changesKey } from "../../../../src/shared/queue/changeStream.ts";
import { agentHook, mappedHook, QUEUES, queuePrefix } from "../../../../src/shared/queue/definitions.ts";
import { connectProducer } from "../../../../src/shared/queue/redis.ts";
import type { RedisAddress } from "../../../../src/shared/queue/redisAddress.ts";
import { openEvents } from "../../../support/eventSource.ts";
import { eventually } from "../../../support/eventually.ts";
import { freeze } from "../../../support/freeze.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { answers, type ChannelServer, startChannelServer } from "../../../support/servers/channelServer.ts";
import { acquireDatabase } from "../../../support/servers/databases.ts";
import { type RedisCluster, startRedisCluster } from "../../../support/servers/redisCluster.ts";
import { redisUrl } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";
/**
 * This prefix puts agent hooks and the change stream on the first node, the main session on the second, and mapped hooks
 * on the third.
 */
const PREFIX = "cluster-14";
const quiet = { deliver: false, wakeMode: "next-heartbeat" };

/** Real processes with a cluster of three masters, each with a replica. */
describe("a Redis Cluster", () => {
  let cluster: RedisCluster;
  let telegram: ChannelServer;
  let dir: string;
  let env: Record<string, string>;
  let client: mongo.MongoClient;
  let web: Service;
  let url: string;
  let workers: Service[] = [];
  let releaseDatabase: (() => Promise<void>) | undefined;
  before(async () => {
    const { uri, release } = await acquireDatabase();
    releaseDatabase = release;
    [cluster, telegram, client] = await Promise.all([
      startRedisCluster(),
      startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 5 } } })),
      mongo.MongoClient.connect(uri),
    ]);
    dir = mkdtempSync(join(tmpdir(), "signalbox-cluster-"));
    const file = join(dir, "signalbox.json5");
    const config = {
      redis: { prefix: PREFIX },
      hooks: {
        enabled: true,
        token: TOKEN,
        mappings: [{ match: { path: "ci" }, messageTemplate: "Build {{build}} failed", ...quiet }],
      },
      agents: { defaults: { runner: "echo", heartbeat: { every: "1d" } } },
      channels: { telegram: { apiUrl: telegram.url, botToken: "1:t" } },
    };
    writeFileSync(file, JSON.stringify(config));
    env = { MONGODB_URI: uri, REDIS_URL: cluster.url, REDIS_CLUSTER: "true", SIGNALBOX_CONFIG: file };
    web = startProcess("test/support/processes/web.ts", env);
    [{ url }] = await Promise.all([web.ready, startWorkers()]);
  });
  after(async () => {
    await Promise.all([web, ...workers].map((service) => service?.stop("SIGKILL")));
    await Promise.all([client?.close(), telegram?.close(), cluster?.remove(), releaseDatabase?.()]);
    rmSync(dir, { recursive: true });
  });

  async function startWorkers(): Promise<void> {
    const seed = cluster.urls[1] as string; // From one node they discover all others.
    workers = [1, 2].map(() => startProcess("test/support/processes/worker.ts", { ...env, REDIS_URL: seed }));
    await Promise.all(workers.map(({ ready }) => ready));
  }
  async function call(method: string, path: string, body?: object, more: Record<string, string> = {}) {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}`, ...more };
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }
  async function post(path: string, body: object, more?: Record<string, string>): Promise<string> {
    const answer = await call("POST", `/hooks/${path}`, body, more);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
    return answer.body.runId ?? answer.body.eventId;
  }
  const collection = (name: string) => client.db().collection<{ _id: string; status?: string; source?: string }>(name);
  /** Checks that all runs have completed, with one summary each. */
  async function expectCompletedOnce(ids: readonly string[]): Promise<void> {
    const these = { _id: { $in: [...ids] } };
    const finalized = () => collection("runs").countDocuments({ ...these, finalized: true });
    await eventually(async () => (await finalized()) === ids.length, "every run to be finalized", 60_000);
    const ended = await collection("runs").find(these).toArray();
    expect(ended.filter(({ status }) => status !== "completed")).to.deep.equal([]);
    const sources = ids.map((id) => `run ${id}`);
    const summaries = await collection("events")
      .find({ source: { $in: sources } })
      .toArray();
    expect(summaries.map(({ source }) => source)).to.have.members(sources);
  }
  const keyOf = ({ name }: { name: string }) => `${queuePrefix(PREFIX, name)}:${name}`;
  const printed = (words: string) => web.output().stdout.split(words).length - 1;

  it("is refused with the setting to correct when REDIS_URL and the servers do not match", async () => {
    const log = pino({ level: "silent" });
    const refusalOf = (address: RedisAddress) =>
      connectProducer(address, log).then(
        () => "connected",
        (error: unknown) => (error instanceof StartError ? error.message : String(error)),
      );
    const url = cluster.urls[0] as string;

    const plain = await refusalOf({ url });
    const ofDatabase = await refusalOf({ url: `${url}/1` });
    const noCluster = await refusalOf({ url: await redisUrl(), cluster: true });
    const wrong = await refusalOf({ url: url.replace(/:[^:]*@/, ":wrong@"), cluster: true });

    expect(plain).to.match(/^Redis at [\d.:]+ is a node of a Redis Cluster: set REDIS_CLUSTER=true .*\.$/);
    expect(ofDatabase).to.equal(plain);
    expect(noCluster).to.match(/^Redis at [\d.:]+ is a single server and not a cluster: remove REDIS_CLUSTER .*\.$/);
    expect(wrong).to.match(/^Redis Cluster at [\d.:]+ cannot be used \(the user or the password is wrong\): .*\.$/);
  });

  it("serves jobs, reports and their live events", async () => {
    await call("PUT", "/api/jobs/a", { name: "A" });
    const events = await openEvents(`${url}/api/jobs/a/events`, { Authorization: `Bearer ${TOKEN}` });

    await call("PUT", "/api/jobs/a/steps/s", { stepName: "S", progress: 40, jobProgressStart: 0, jobProgressEnd: 100 });

    expect(await events.next("job", ({ progress }) => progress === 40)).to.include({ jobId: "a", status: "running" });
    expect(await events.next("step", ({ stepKey }) => stepKey === "s")).to.include({ progress: 40 });
    expect((await call("GET", "/readyz")).status).to.equal(200);
    events.close();
  });

  it("serves wake, agent and mapped hooks in the order of their session, and deliveries", async () => {
    const key = { "Idempotency-Key": randomUUID() };

    const woken = await post("wake", { text: "It rang.", mode: "now" });
    const ordered: string[] = [];
    for (let n = 0; n < 6; n++) ordered.push(await post("agent", { message: `m${n}`, sessionKey: "s", ...quiet }));
    const mapped = await post("ci", { build: 7 });
    const sent = { message: "Say it.", deliver: true, channel: "telegram", to: "5", wakeMode: "next-heartbeat" };
    const delivered = [await post("agent", sent, key), await post("agent", sent, key)];

    expect(new Set(delivered).size).to.equal(1);
    await expectCompletedOnce([...ordered, mapped, delivered[0] as string]);
    const transcript = (await call("GET", "/api/sessions/s/messages")).body.messages as {
      role: string;
      content: string;
    }[];
    const replies = transcript.filter(({ role }) => role === "assistant").map(({ content }) => content.slice(-2));
    expect(replies).to.deep.equal(["m0", "m1", "m2", "m3", "m4", "m5"]);
    await eventually(() => telegram.requests.length > 0, "the delivery");
    expect(telegram.requests.map(({ body }) => body.text)).to.deep.equal(["The echo runner received: Say it."]);
    const received = { _id: woken, takenAt: { $ne: null } };
    await eventually(() => collection("events").countDocuments(received), "the turn over the event");
  });

  it("shows all queues in /metrics, on whatever node they are", async () => {
    const names = QUEUES.map(({ name }) => name);
    const owners = await Promise.all(QUEUES.map(async (queue) => (await cluster.ownersOf(keyOf(queue))).master));

    const metrics = await call("GET", "/metrics");

    expect(new Set(owners).size).to.equal(3);
    for (const name of names) expect(metrics.body).to.include(`signalbox_queue_jobs{queue="${name}",state="waiting"}`);
  });

  it("keeps working while a master hangs and is replaced, and after it has returned as a replica", async () => {
    const { master, replica } = await cluster.ownersOf(keyOf(agentHook));
    const both = async (n: number) => [
      await post("agent", { message: `hanging ${n}`, ...quiet }),
      await post("ci", { build: n }),
    ];
    await freeze(master.pid);

    const hanging = await both(1);
    const hasMoved = async () => (await cluster.ownersOf(keyOf(agentHook))).master === replica;
    await eventually(hasMoved, "the replica to take over", 60_000, 100);
    await expectCompletedOnce([...hanging, ...(await both(2))]);
    master.signal("SIGCONT");
    const follows = () =>
      cluster.ask(master, async (redis) => (await redis.info("replication")).includes("role:slave"));
    await eventually(follows, "the old master to follow");
    await cluster.healthy();

    await expectCompletedOnce(await both(3));
    expect((await call("GET", "/readyz")).status).to.equal(200);
  });

  it("loses nothing when nodes are emptied, stopped or replaced under load, and processes stop and start", async () => {
    const stopped = await Promise.all(workers.map((worker) => worker.stop()));
    const agents = await cluster.ownersOf(keyOf(agentHook));
    const mapped = await cluster.ownersOf(keyOf(mappedHook));
    const changes = await cluster.ownersOf(changesKey(PREFIX));
    expect(changes.master === agents.master && mapped.master !== agents.master).to.equal(true);
    const [emptied, away]: [string[], string[]] = [[], []];
    for (let n = 0; n < 10; n++) {
      emptied.push(await post("agent", { message: `m${n}`, sessionKey: `e${n % 3}`, ...quiet }));
      away.push(await post("ci", { build: n }));
    }
    const waiting = async (queue: string) => {
      const { body } = await call("GET", "/metrics");
      return new RegExp(`signalbox_queue_jobs\\{queue="${queue}",state="waiting"\\} (\\d+)`).exec(body)?.[1];
    };
    const before = [await waiting("agent-hook"), await waiting("mapped-hook")];

    await Promise.all([mapped.replica, mapped.master].map((node) => node.stop("SIGKILL")));
    await cluster.ask(agents.master, (redis) => redis.flushall());
    const after = [await waiting("agent-hook"), await waiting("mapped-hook")];
    const { status } = await call("GET", "/readyz");
    await startWorkers();
    await expectCompletedOnce(emptied);
    const unmapped = await collection("runs").countDocuments({ _id: { $in: away }, status: "queued" });

    await mapped.master.start();
    await mapped.replica.start();
    await cluster.healthy();
    const ids: string[] = [];
    let isOver = false;
    const send = async (name: string) => {
      for (let n = 0; !isOver; n++) {
        ids.push(await post("agent", { message: `${name} ${n}`, ...(n % 2 && { sessionKey: name }), ...quiet }));
        ids.push(await post("ci", { build: n }));
        await pause(50); // Without it, a fast machine creates thousands.
      }
    };
    const events = await openEvents(`${url}/api/jobs/a/events`);
    const sending = Promise.all(["x", "y"].map(send));
    sending.catch(() => {}); // It is awaited below.
    await eventually(() => ids.length > 50, "work to be under way");
    await agents.master.stop("SIGKILL");
    const hasMoved = async () => (await cluster.ownersOf(keyOf(agentHook))).master === agents.replica;
    await eventually(hasMoved, "the replica to take over", 60_000, 100);
    const then = ids.length;
    await eventually(() => ids.length > then + 50, "work to go on");
    isOver = true;
    await sending;
    await events.next("reload");
    await call("PUT", "/api/jobs/a/steps/s", { stepName: "S", progress: 80, jobProgressStart: 0, jobProgressEnd: 100 });
    await events.next("job", ({ progress }) => progress === 80);
    events.close();

    await expectCompletedOnce([...away, ...ids]);
    expect([before, after]).to.deep.equal([
      ["10", "10"],
      ["0", undefined],
    ]);
    expect([status, unmapped]).to.deep.equal([200, away.length]);
    await eventually(async () => (await call("GET", "/readyz")).status === 200, "the web process to be ready");
    const lost = () => printed("a node of the Redis cluster cannot be reached");
    await eventually(
      () => lost() > 0 && printed("Redis can be reached again") === lost(),
      "all connections to be back",
    );
    const ends = await Promise.all([web, ...workers].map((one) => one.stop()));
    expect([...stopped, ...ends]).to.deep.equal([0, 0, 0, 0, 0]);
  });
});
