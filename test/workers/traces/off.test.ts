import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { type Service, startProcess } from "../../support/process.ts";

const ENDPOINT = "http://127.0.0.1:9";

describe("traces that are off", () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "signalbox-traces-"));
  });
  after(() => rm(dir, { recursive: true }));

  /** Ends a job while a worker process runs under a configuration. @returns the modules that it has loaded */
  async function loadedBy(otel: object, isDone: (app: TestApp) => Promise<boolean>): Promise<string> {
    const config = { otel, notify: [{ id: "ends", on: ["job.completed"], to: { wake: "next-heartbeat" } }] };
    const app = await startApp({ config: JSON.stringify(config) });
    const hook = join(dir, "hook.mjs");
    const list = join(dir, "loaded");
    writeFileSync(list, "");
    writeFileSync(
      hook,
      `import { appendFileSync } from "node:fs";
       import { registerHooks } from "node:module";
       registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context); } });`,
    );
    const env = {
      MONGODB_URI: app.mongoUri,
      REDIS_URL: app.redisUrl,
      SIGNALBOX_CONFIG_JSON: JSON.stringify({ ...config, redis: { prefix: "traces" } }),
    };
    let worker: Service | undefined;
    try {
      const { path } = await createJob(app);
      const { body: job } = await app.call("PUT", path, { status: "completed" });
      expect(job.traceparent === null).to.equal(!("endpoint" in otel && "traces" in otel));
      worker = startProcess("test/support/processes/worker.ts", env, ["long-leases"], {
        execArgv: ["--import", pathToFileURL(hook).href],
      });
      await worker.ready;
      await eventually(() => isDone(app), "the dispatch");
      return readFileSync(list, "utf8");
    } finally {
      await worker?.stop();
      await app.close();
    }
  }

  const isDispatched = async ({ database }: TestApp) => {
    const { events, jobs } = database.collections;
    return (
      (await events.countDocuments()) === 1 && (await jobs.countDocuments({ "notes.at": { $exists: true } })) === 0
    );
  };

  for (const [what, otel] of [
    ["an endpoint alone", { endpoint: ENDPOINT }],
    ["no endpoint", { traces: true }],
  ] as const) {
    it(`load nothing with ${what}`, async () => {
      const loaded = await loadedBy(otel, isDispatched);

      expect(loaded).to.include("/src/workers/service.ts");
      expect(loaded).to.not.include("/src/workers/traces/");
    });
  }

  it("load their modules once both are given", async () => {
    const isTried = async (app: TestApp) =>
      (await isDispatched(app)) && /spanSender/.test(readFileSync(join(dir, "loaded"), "utf8"));

    const loaded = await loadedBy({ traces: true, endpoint: ENDPOINT }, isTried);

    expect(loaded).to.match(/workers\/traces\/addTraces/);
  });
});
