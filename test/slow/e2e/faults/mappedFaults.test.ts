import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { startRedis, type TestServer } from "../../../support/servers/servers.ts";
import { FAST_TIMINGS, FAULT_TIMINGS } from "../../../support/timings.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";

/** After each fault every accepted run completes once, with one summary. */
describe("accepted mapped hooks survive", () => {
  let dir: string;
  let redis: TestServer;
  let app: TestApp;
  let env: Record<string, string>;
  let killed: Service | undefined;
  let worker: TestWorker | undefined;

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-mapped-faults-"));
    const quiet = 'deliver: false, wakeMode: "next-heartbeat"';
    const config = `{
      redis: { prefix: "mapped-faults" },
      hooks: { enabled: true, token: "${TOKEN}", transformsDir: "${dir}", mappings: [
        { match: { path: "plain" }, sessionKey: "{{key}}", messageTemplate: "{{text}}", ${quiet} },
        { match: { path: "items" }, forEach: "items", messageTemplate: "{{item}}", ${quiet} },
        { match: { path: "event" }, action: "wake", textTemplate: "{{text}}", wakeMode: "next-heartbeat" },
        { match: { path: "slow" }, transform: { module: "slow.mjs" }, ${quiet} },
        { match: { path: "slow-event" }, action: "wake", transform: { module: "slow.mjs" }, wakeMode: "next-heartbeat" },
      ] },
      agents: { defaults: { heartbeat: { every: "1d" } } },
    }`;
    writeFileSync(
      join(dir, "slow.mjs"),
      `import { appendFileSync, existsSync } from "node:fs";
       import { setTimeout as pause } from "node:timers/promises";
       const file = (name) => new URL(name, import.meta.url);
       export default async ({ path }) => {
         appendFileSync(file("begun"), path + "\\n");
         while (existsSync(file("hold"))) await pause(20);
       };`,
    );
    writeFileSync(join(dir, "signalbox.json5"), config);
    redis = await startRedis();
    app = await startApp({ redis: redis.url, config, prefix: "mapped-faults" });
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: redis.url, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  afterEach(async () => {
    await killed?.stop("SIGKILL");
    await worker?.close();
    worker = undefined;
  });
  after(async () => {
    await app.close();
    await redis.remove();
    rmSync(dir, { recursive: true });
  });

  async function post(name: string, body: object): Promise<string[]> {
    const answer = await app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}` });
    expect(answer.status).to.equal(202);
    return answer.body.runIds;
  }
  async function expectCompletedOnce(ids: readonly string[]): Promise<void> {
    const { runs, mainEvents } = app.stores;
    await eventually(
      async () =>
        (await runs.collection.native.countDocuments({ _id: { $in: [...ids] }, finalized: true })) === ids.length,
      "every run to be finalized",
    );
    const ended = await runs.collection.native.find({ _id: { $in: [...ids] } }).toArray();
    expect(ended.map(({ status, error }) => `${status} ${error}`)).to.deep.equal(ids.map(() => "completed null"));
    for (const id of ids) {
      const effects = await mainEvents.collection.native.countDocuments({
        $or: [{ source: `run ${id}` }, { _id: `hook-${id}-0` }],
      });
      expect(effects).to.equal(1);
    }
  }
  const begun = () =>
    existsSync(join(dir, "begun")) ? readFileSync(join(dir, "begun"), "utf8").trim().split("\n") : [];

  it("a Redis that is killed while they are accepted, and is empty after its restart", async () => {
    worker = await startWorker(app);
    await redis.stop("SIGKILL");

    const ids = [
      ...(await post("plain", { key: "one", text: "first" })),
      ...(await post("plain", { key: "one", text: "second" })),
      ...(await post("items", { items: ["a", "b", "c"] })),
      ...(await post("event", { text: "happened" })),
      ...(await post("slow", { text: "transformed" })),
    ];
    await redis.start();

    await expectCompletedOnce(ids);
    const turns = await app.stores.messages.findRecent("one", { maxMessages: 10, maxChars: 10_000 });
    expect(turns.filter(({ role }) => role === "user").map(({ content }) => content)).to.deep.equal([
      "first",
      "second",
    ]);
  });

  it("a worker that is killed in the middle of a transform", async () => {
    writeFileSync(join(dir, "hold"), "");
    rmSync(join(dir, "begun"), { force: true });
    killed = startProcess("test/support/processes/worker.ts", env);
    await killed.ready;
    const ids = [...(await post("slow", { text: "run" })), ...(await post("slow-event", { text: "event" }))];
    await eventually(() => begun().length === 2, "both transforms to begin");

    await killed.stop("SIGKILL");
    const { status, stage } = await app.stores.runs.find(ids[0] as string);
    rmSync(join(dir, "hold"));
    worker = await startWorker(app, {}, { ...FAST_TIMINGS, queueLockMs: FAULT_TIMINGS.queueLockMs });

    expect([status, stage]).to.deep.equal(["queued", "mapping"]);
    await expectCompletedOnce(ids);
    expect(begun().sort()).to.deep.equal(["slow", "slow", "slow-event", "slow-event"]);
  });
});
