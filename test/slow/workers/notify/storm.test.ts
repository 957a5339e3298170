import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { toLog, toWebhook } from "../../../support/notifyFixture.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { TIMES } from "../../../support/random.ts";

/** A worker that kept the jobs of a batch in memory died of 3,000 such jobs; the nightly command has more. */
const JOBS = TIMES > 1 ? 10_000 : 3_000;
const MESSAGE = "x".repeat(60_000);
const BATCH = 200;
/** The heap that a host with 512 MB gets. */
const HEAP_MIB = 300;

const NOTIFY = [
  { id: "hook", on: ["job.stale"], to: toWebhook() },
  { id: "hourly", on: ["job.stale"], to: toWebhook(), cooldown: "1h" },
  { id: "chat", on: ["job.stale"], to: toLog },
];

describe("notify: a storm of stale jobs", () => {
  let app: TestApp;
  let dir: string;
  let worker: Service | undefined;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-storm-"));
    const prefix = `storm-${process.pid}`;
    const config = JSON.stringify({ redis: { prefix }, channels: { log: {} }, notify: NOTIFY });
    writeFileSync(join(dir, "signalbox.json5"), config);
    app = await startApp({ config, prefix });
  });
  after(async () => {
    await worker?.stop("SIGKILL");
    await app.close();
    rmSync(dir, { recursive: true });
  });

  it(`dispatches ${JOBS} events with ${HEAP_MIB} MiB of heap, each once to webhooks, and finds another stale job meanwhile`, async () => {
    const { jobs, deliveries } = app.stores;
    await jobs.put("model", { name: "model", message: "x", staleAfterSeconds: 60 });
    const model = await jobs.collection.native.findOne({ jobId: "model" });
    const staleAt = new Date(Date.now() - 60_000);
    for (let i = 0; i < JOBS; i += BATCH) {
      const docs = Array.from({ length: BATCH }, (_, k) => ({
        ...structuredClone({ ...model, _id: undefined }),
        _id: new mongo.ObjectId(),
        jobId: `job-${i + k}`,
        name: `job ${i + k}`,
        message: MESSAGE,
        staleAt,
      }));
      await jobs.collection.native.insertMany(docs as never[], { ordered: false });
    }
    const env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
    const execArgv = [`--max-old-space-size=${HEAP_MIB}`];
    worker = startProcess("test/support/processes/worker.ts", env, ["long-leases"], { execArgv });
    const ended = worker.ended;
    const sent = (rule: string) => deliveries.collection.native.countDocuments({ "event.rule": rule });
    await eventually(async () => (await sent("hook")) > 100, "the beginning of the storm", 120_000);

    await jobs.collection.native.updateOne({ jobId: "model" }, { $set: { staleAt } });

    await eventually(async () => (await jobs.collection.native.findOne({ jobId: "model" }))?.silence, "the later job");
    const isOver = async () => (await sent("hourly")) >= JOBS + 1 && (await sent("hook")) >= JOBS + 1;
    const all = eventually(isOver, "all events", 400_000, 500);
    const first = await Promise.race([all, ended]);
    expect(first, "the end of the worker").to.equal(true);
    expect([await sent("hourly"), await sent("hook")]).to.deep.equal([JOBS + 1, JOBS + 1]);
    expect(await sent("chat")).to.be.within(20, 200);
  }).timeout(600_000);
});
