import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { startMongod, startRedis, type TestServer } from "../support/servers.ts";

const TOKEN = "a-hook-token-of-length";
const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };

/** Each ends with every accepted run completed once, and with one summary of each. */
describe("accepted hooks survive", () => {
  let dir: string;
  let redis: TestServer;
  let mongod: TestServer;
  let app: TestApp;
  let env: Record<string, string>;
  const running: Service[] = [];

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-faults-"));
    const agent = join(dir, "agent.sh");
    writeFileSync(
      agent,
      `#!/bin/sh\nread -r line\ncat > /dev/null\necho x >> ${dir}/begun\nwhile [ -e ${dir}/hold ]; do sleep 0.05; done\necho x >> ${dir}/ended\necho done\n`,
    );
    chmodSync(agent, 0o755);
    const config = `{
      redis: { prefix: "faults" },
      hooks: { enabled: true, token: "${TOKEN}" },
      agents: { defaults: { runner: "command", heartbeat: { every: "1d" } }, runners: { command: { command: ["${agent}"] } } },
    }`;
    writeFileSync(join(dir, "signalbox.json5"), config);
    redis = await startRedis();
    mongod = await startMongod();
    const mongo = `${mongod.url}/x`;
    app = await startApp({ mongo, redis: redis.url, config, prefix: "faults" });
    env = { MONGODB_URI: mongo, REDIS_URL: redis.url, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
    await app.close();
    await redis.remove();
    await mongod.remove();
    rmSync(dir, { recursive: true });
  });

  const start = async (main: string) => {
    const service = startProcess(`src/${main}/main.ts`, env);
    running.push(service);
    return { service, ...(await service.ready) };
  };
  const post = async (url: string, body: object): Promise<string> => {
    const message = { deliver: false, wakeMode: "next-heartbeat", ...body };
    const response = await fetch(`${url}/hooks/agent`, { method: "POST", headers, body: JSON.stringify(message) });
    expect(response.status).to.equal(202);
    return ((await response.json()) as { runId: string }).runId;
  };
  async function allCompletedOnce(ids: readonly string[], withinMs = 60_000) {
    const { runs, events } = app.stores;
    await eventually(
      async () => (await runs.collection.countDocuments({ _id: { $in: [...ids] }, settled: true })) === ids.length,
      "every run to be settled",
      withinMs,
    );
    const ended = await runs.collection.find({ _id: { $in: [...ids] } }).toArray();
    expect(ended.map(({ status, reply }) => `${status} ${reply}`)).to.deep.equal(ids.map(() => "completed done"));
    const summaries = await events.collection.find({}).toArray();
    expect(summaries.map(({ source }) => source)).to.have.members(ids.map((id) => `run ${id}`));
    return ended;
  }

  it("a web process killed right after its answer", async function () {
    this.timeout(90_000);
    const web = await start("api");

    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => post(web.url, { message: `m${i}` })));
    await web.service.stop("SIGKILL");
    await start("workers");

    await allCompletedOnce(ids);
  });

  it("a worker killed in the middle of a run", async function () {
    this.timeout(120_000);
    writeFileSync(join(dir, "hold"), "");
    const first = await start("workers");
    const ids = [
      await post(app.url, { message: "a", sessionKey: "s" }),
      await post(app.url, { message: "b", sessionKey: "s" }),
    ];
    await eventually(() => existsSync(join(dir, "begun")), "the run to begin");

    await first.service.stop("SIGKILL");
    rmSync(join(dir, "hold"));
    await start("workers");

    const ended = await allCompletedOnce(ids, 90_000);
    expect(ended.find(({ _id }) => _id === ids[0])?.attempts).to.equal(2);
    expect(readFileSync(join(dir, "begun"), "utf8").trim().split("\n")).to.have.length(3);
  });

  it("Redis killed and started empty with 50 runs waiting", async function () {
    this.timeout(120_000);
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post(app.url, { message: `m${i}`, ...(i % 2 && { sessionKey: `s${i % 5}` }) }),
      ),
    );

    await redis.stop("SIGKILL");
    await redis.start();
    await start("workers");

    await allCompletedOnce(ids, 90_000);
  });

  it("Redis away while they are accepted", async function () {
    this.timeout(120_000);
    await start("workers");
    await redis.stop("SIGKILL");
    const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => post(app.url, { message: `m${i}` })));

    await redis.start();

    await allCompletedOnce(ids, 90_000);
  });

  it("MongoDB away from the middle of a run to after its end: the reply is kept, the agent is asked once", async function () {
    this.timeout(120_000);
    writeFileSync(join(dir, "hold"), "");
    await start("workers");
    const id = await post(app.url, { message: "a" });
    await eventually(() => existsSync(join(dir, "begun")), "the run to begin");

    await mongod.stop("SIGKILL");
    rmSync(join(dir, "hold"));
    await eventually(() => existsSync(join(dir, "ended")), "the agent to answer");
    await mongod.start();

    const [run] = await allCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
    expect(readFileSync(join(dir, "begun"), "utf8")).to.equal("x\n");
  });

  it("a worker killed in the middle of the main session's turn: the events are there for the next one", async function () {
    this.timeout(120_000);
    writeFileSync(join(dir, "hold"), "");
    const first = await start("workers");
    await fetch(`${app.url}/hooks/wake`, { method: "POST", headers, body: JSON.stringify({ text: "up" }) });
    await eventually(() => existsSync(join(dir, "begun")), "the turn to begin");

    await first.service.stop("SIGKILL");
    rmSync(join(dir, "hold"));
    await start("workers");

    await eventually(async () => (await app.stores.events.countWaiting()) === 0, "the event's turn", 60_000);
    expect(readFileSync(join(dir, "begun"), "utf8")).to.equal("x\nx\n");
  });

  it("a worker that is told to stop: it hands back what it cannot finish", async function () {
    this.timeout(90_000);
    writeFileSync(join(dir, "hold"), "");
    env.SIGNALBOX_CONFIG = join(dir, "short.json5");
    const config = readFileSync(join(dir, "signalbox.json5"), "utf8");
    writeFileSync(env.SIGNALBOX_CONFIG, config.replace("redis:", "worker: { shutdownSeconds: 3 }, redis:"));
    const first = await start("workers");
    const id = await post(app.url, { message: "a" });
    await eventually(() => existsSync(join(dir, "begun")), "the run to begin");

    const code = await first.service.stop();
    const handedBack = await app.stores.runs.find(id);
    rmSync(join(dir, "hold"));
    await start("workers");

    expect(code).to.equal(0);
    expect(handedBack).to.include({ status: "queued", attempts: 0 });
    const [run] = await allCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
  });
});
