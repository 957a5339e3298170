import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startSchedules } from "../../../../src/workers/periodicTasks.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { createJob } from "../../../support/factories.ts";
import { freeze } from "../../../support/freeze.ts";
import { logLines } from "../../../support/logLines.ts";
import { startProcess } from "../../../support/process.ts";
import { freePort, startRedis } from "../../../support/servers/servers.ts";

const WORKER = "src/workers/main.ts";

describe("the worker process", () => {
  let app: TestApp;
  let servers: Record<string, string>;
  let dir: string;
  before(async () => {
    app = await startApp();
    servers = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl };
    dir = mkdtempSync(join(tmpdir(), "signalbox-config-"));
  });
  after(async () => {
    await app.close();
    rmSync(dir, { recursive: true });
  });

  it("deletes old jobs as configured, serves its metrics on a free port that it logs, logs a stop, and exits with 0", async () => {
    const { jobId, path } = await createJob(app, { status: "completed" });
    const kept = await createJob(app, { status: "failed" });
    await app.stores.jobs.collection.native.updateOne({ jobId }, { $set: { endedAt: new Date(0) } });
    const file = join(dir, "signalbox.json5");
    writeFileSync(file, `{ redis: { prefix: "test-${process.pid}" }, retention: { completedAfter: "1d" } }`);

    const worker = startProcess(WORKER, { ...servers, SIGNALBOX_CONFIG: file, WORKER_METRICS_PORT: "0" });
    await worker.ready;
    const url = await eventually(() => /http:[^"]+/.exec(worker.output().stdout)?.[0], "the log to tell where");
    const metrics = await fetch(`${url}/metrics`);
    await eventually(async () => (await app.call("GET", path)).status === 404, "the job to be deleted");

    expect(await metrics.text()).to.include("signalbox_runs_total");
    expect(await worker.stop()).to.equal(0);
    expect(worker.output().stdout).to.include("the worker is stopping");
    expect((await app.call("GET", kept.path)).status).to.equal(200);
  });

  it("exits with 0 as soon as it is idle, also while Redis is down or hangs", async () => {
    const endsWhen = async (takeAway: (pid: number) => unknown) => {
      const redis = await startRedis();
      const worker = startProcess(WORKER, { ...servers, REDIS_URL: redis.url, LOG_LEVEL: "debug" });
      await worker.ready;
      await eventually(() => worker.output().stdout.includes('"queue":"retention"'), "its first work to be done");

      await takeAway(redis.pid);

      const code = await worker.stop();
      await redis.remove();
      return code;
    };

    const [away, hanging] = await Promise.all([endsWhen((pid) => process.kill(pid, "SIGKILL")), endsWhen(freeze)]);

    expect({ away, hanging }).to.deep.equal({ away: 0, hanging: 0 }); // A forced end at worker.shutdownSeconds would exit with 1.
  });

  it("prints in one sentence that Redis does not respond, and exits with 1", async () => {
    const worker = startProcess(WORKER, { ...servers, REDIS_URL: `redis://127.0.0.1:${await freePort()}` });

    expect(await worker.ended).to.equal(1);
    expect(worker.output().stderr).to.match(/^Redis at 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\): .*\n$/);
  });
});

describe("the schedules in Redis", () => {
  const DEBUG = 20;
  const REPEATED = "the storing of the schedules in Redis failed; it is repeated";

  it("are restored after Redis was restarted empty, and the outage is no error in the log", async () => {
    const redis = await startRedis();
    const app = await startApp({ redis: redis.url });
    const { log, lines } = logLines();
    const schedules = startSchedules(app.queues, log, {
      heartbeatEveryMs: 3_600_000,
      renewEveryMs: 50,
    });
    const scheduled = async () => {
      const depths = await app.queues.depths().catch(() => []);
      return depths.some(({ state, count }) => ["delayed", "waiting"].includes(state) && count > 0);
    };
    try {
      await eventually(scheduled, "the first schedule");

      await redis.stop("SIGKILL");
      await redis.start();

      await eventually(scheduled, "the schedule to be back");

      expect(lines.map(({ level, msg }) => [level, msg])).to.include.deep.members([[DEBUG, REPEATED]]);
      expect(lines.filter(({ level }) => level !== DEBUG)).to.deep.equal([]);
    } finally {
      await schedules.close();
      await app.close();
      await redis.remove();
    }
  });
});
