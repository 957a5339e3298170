import { expect } from "chai";
import { mongo } from "mongoose";
import pino from "pino";
import sinon from "sinon";
import { ChatAccess } from "../../../src/config/channels/chatAccess.ts";
import type { Stores } from "../../../src/models/stores.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { notify } from "../../../src/shared/queue/definitions.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { type DispatchDeps, dispatchAll } from "../../../src/workers/notify/dispatch.ts";
import { compileRules } from "../../../src/workers/notify/rule.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";
import { startWorker } from "../../support/worker.ts";

const failed = { status: "failed", failJob: true };
const RULES = [
  { id: "hook", on: ["job.failed", "job.stale"], to: toWebhook(), after: 1, cooldown: "1h" },
  { id: "second", on: ["job.failed"], to: toWebhook(), after: 2 },
  { id: "chat", on: ["job.failed", "job.stale"], to: toLog },
  { id: "wake", on: ["job.failed", "job.stale"], to: { wake: "now" } },
];

describe("notify: crashes", () => {
  let fixture: NotifyFixture;
  beforeEach(async () => {
    fixture = await NotifyFixture.start(RULES);
    await fixture.stopWorker();
  });
  afterEach(async () => {
    sinon.restore();
    await fixture.app.close();
  });

  /** The writes of a dispatch. */
  const WRITES = [
    ["deliveries", "add"],
    ["alerts", "save"],
    ["mainEvents", "add"],
    ["outbox", "remove"],
  ] as const;

  /** Returns the deps of a dispatch that ends just before or after its nth write; `writes` counts them. */
  function crashing(at: number, when: "before" | "after") {
    let writes = 0;
    const stores = { ...fixture.app.stores };
    for (const [store, method] of WRITES) {
      const inner = stores[store] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const wrapped = async (...args: unknown[]) => {
        const isCrash = ++writes === at;
        if (isCrash && when === "before") throw new AppError("unavailable", { detail: "crash" });
        const result = await inner[method]?.(...args);
        if (isCrash) throw new AppError("unavailable", { detail: "crash" });
        return result;
      };
      const proxy = new Proxy(stores[store] as object, {
        get: (target, key) => {
          if (key === method) return wrapped;
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      (stores as Record<string, unknown>)[store] = proxy;
    }
    return { deps: depsOf(stores), count: () => writes };
  }

  const depsOf = (stores: Stores): DispatchDeps => ({
    stores,
    queues: fixture.app.queues,
    rules: compileRules(fixture.app.config.notify),
    publicUrl: undefined,
    metrics: new WorkerMetrics(),
    delivery: { initialReplyTarget: null, channels: new Set(["log"]) },
    access: new ChatAccess(fixture.app.config.channels),
    deliver: async () => {},
    triggerHeartbeat: async () => {},
    url: fixture.app.url,
    gatherMs: 0,
    staleAfterSeconds: 900,
    agent: fixture.app.config.agents.defaults,
    startRun: async () => {},
    clock: fixture.app.clock,
    log: pino({ level: "silent" }),
    retryMs: 0,
  });

  /** Returns how many deliveries each rule has made, and how many events wake the agent. */
  async function made(): Promise<Record<string, number>> {
    const { events } = fixture.app.database.collections;
    const counts = await Promise.all(
      RULES.map(async ({ id }) => [id, (await fixture.deliveries(id)).length] as [string, number]),
    );
    return { ...Object.fromEntries(counts), events: await events.countDocuments() };
  }

  for (const when of ["before", "after"] as const) {
    it(`loses and repeats nothing when a dispatch ends ${when} any of its writes`, async () => {
      let crashes = 0;
      for (let at = 1; ; at++) {
        const { path } = await createJob(fixture.app, { name: `crash ${at}` });
        await report(fixture.app, path, "a", failed);
        const { deps, count } = crashing(at, when);
        const outcome = await dispatchAll(deps).catch((error: Error) => error.message);

        await dispatchAll(depsOf(fixture.app.stores));

        expect(await made()).to.deep.equal({ hook: at, second: 0, chat: at, wake: at, events: at });
        if (outcome === "crash") crashes++;
        if (count() < at) break;
      }
      expect(crashes).to.be.at.least(5);
      await fixture.dispatched();
    });
  }

  it("dispatches what was noted before Redis was emptied", async () => {
    const { path } = await createJob(fixture.app, { name: "x" });
    await report(fixture.app, path, "a", failed);
    const queue = fixture.app.queues.all.find(({ name }) => name === notify.name);
    await eventually(async () => (await queue?.getWaitingCount()) === 1, "the entry of the queue");
    await queue?.obliterate({ force: true });
    fixture.app.clock.advance(1_000);

    await fixture.startWorker();

    await fixture.delivered("hook", 1);
    expect(await made()).to.deep.equal({ hook: 1, second: 0, chat: 1, wake: 1, events: 1 });
    await fixture.stopWorker();
  });

  it("makes one delivery of each event with two workers", async () => {
    const workers = [await startWorker(fixture.app), await startWorker(fixture.app)];
    const jobs = await Promise.all(Array.from({ length: 100 }, (_, i) => createJob(fixture.app, { name: `job ${i}` })));

    await Promise.all(jobs.map(({ path }) => report(fixture.app, path, "a", failed)));

    await fixture.delivered("hook", 100);
    await Promise.all(workers.map((worker) => worker.close()));
    expect(await made()).to.deep.equal({ hook: 100, second: 0, chat: 20, wake: 20, events: 20 });
  });

  it("stores nothing more with a report that ends nothing", async () => {
    const { jobId, path } = await createJob(fixture.app);

    const pipeline = fixture.app.stores.jobs.reportUpdate({
      jobId,
      stepKey: "a",
      stepId: "x",
      stepName: "a",
      progress: 50,
      reportId: new mongo.ObjectId(),
    });
    await report(fixture.app, path, "a", { progress: 50 });

    const job = await fixture.app.database.collections.jobs.findOne({ jobId });
    expect(JSON.stringify(pipeline)).not.to.match(/notes|silence/);
    expect(job).not.to.have.any.keys("notes", "silence", "callbackUrl");
  });
});
