import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import sinon from "sinon";
import { agentHook, heartbeat, mappedHook } from "../../src/shared/queue/definitions.ts";
import { TIMINGS } from "../../src/shared/timings.ts";
import { WorkerMetrics } from "../../src/workers/metrics.ts";
import { startSweep } from "../../src/workers/sweep.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { acceptRun } from "../support/factories.ts";
import { useApp } from "../support/useApp.ts";

describe("sweep: runs that wait for their mapping", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  afterEach(() => sinon.restore());
  after(() => app.close());

  /** Stores a run as if the process that accepted it had died before it enqueued it. */
  async function accept(mapping = "x"): Promise<string> {
    const _id = randomUUID();
    const mapped = { mapping, call: "{}", wakeMode: "now" as const };
    const common = { kind: "agent" as const, name: "x", sessionKey: `hook:${_id}`, singleUse: true, request: null };
    await app.stores.runs.accept([{ _id, mapped, ...common }]);
    return _id;
  }
  function start() {
    const { stores, queues, clock } = app;
    app.clock.advance(10_000);
    return startSweep({
      stores,
      queues,
      clock,
      metrics: new WorkerMetrics(),
      channels: new Set(["log"]),
      log: pino({ level: "silent" }),
      finalize: async () => {},
      timings: { ...TIMINGS.sweep, everyMs: 10 },
    });
  }
  async function sweepOnce(): Promise<void> {
    const sweep = start();
    for (const marker of [await accept(), await accept()]) {
      app.clock.advance(10_000);
      await eventually(() => app.queues.has(mappedHook, marker), "a sweep");
    }
    await sweep.close();
  }
  const onQueue = (ids: string[]) => Promise.all(ids.map((id) => app.queues.has(mappedHook, id)));

  it("enqueues a run that its queue does not contain", async () => {
    const id = await accept();

    await sweepOnce();

    expect(await onQueue([id])).to.deep.equal([true]);
  });

  it("enqueues them with priorities by which the mappings take turns", async () => {
    const ids = [];
    for (const mapping of ["a", "a", "b", "a", "b"]) ids.push(await accept(mapping));

    await sweepOnce();

    const queue = app.queues.all.find(({ name }) => name === mappedHook.name);
    const jobs = await Promise.all(ids.map((id) => queue?.getJob(id)));
    expect(jobs.map((job) => job?.opts.priority)).to.deep.equal([1, 2, 1, 3, 2]);
  });

  it("ignores runs that have ended or are mapped", async () => {
    const ids = [await accept(), await accept(), await accept()] as const;
    await app.stores.runs.cancel(ids[0]);
    await app.stores.runs.applyMapping(ids[1], 0, { kind: "dropped" });
    await app.stores.runs.applyMapping(ids[2], 0, { kind: "failed", error: { code: "mapping_failed", message: "x" } });

    await sweepOnce();

    expect(await onQueue([...ids])).to.deep.equal([false, false, false]);
  });

  it("sweeps again at once after a sweep that took a minute because a server was down", async () => {
    const now = performance.now.bind(performance);
    let heldUpMs = 0;
    sinon.stub(performance, "now").callsFake(() => now() + heldUpMs);
    const find = sinon.stub(app.stores.runs.collection, "stream").callThrough();
    find.onFirstCall().callsFake(() => {
      heldUpMs = 60_000;
      throw new Error("MongoDB is away.");
    });
    const id = await accept();

    const sweep = start();
    await eventually(() => find.called, "the sweep that is held up");

    await eventually(() => app.queues.has(mappedHook, id), "the next one");
    await sweep.close();
  });

  it("adds no second entry for a run that was retried by hand and is on the queue", async () => {
    const id = await accept();
    await app.stores.runs.applyMapping(id, 0, { kind: "failed", error: { code: "mapping_failed", message: "x" } });
    await app.stores.runs.markFinalized({ _id: id, round: 0 });
    await app.call("POST", `/api/runs/${id}/retry`);

    await sweepOnce();

    expect(await onQueue([`${id}-round-1`, id])).to.deep.equal([true, false]);
  });
});

describe("sweep: deliveries", () => {
  const app = useApp();

  const CHANNELS = new Set(["telegram"]);
  async function add(channel: string, to: string, change: object = {}): Promise<string> {
    const _id = randomUUID();
    await app.stores.deliveries.add({ _id, runId: null, channel, to, text: "x", fault: null });
    await app.stores.deliveries.collection.native.updateOne({ _id }, { $set: change });
    return _id;
  }
  async function sweepUntil(isDone: () => Promise<unknown>): Promise<string> {
    const { stores, queues, clock } = app;
    const metrics = new WorkerMetrics();
    const deps = { stores, queues, clock, metrics, channels: CHANNELS };
    const sweep = startSweep({
      ...deps,
      log: pino({ level: "silent" }),
      finalize: async () => {},
      timings: { ...TIMINGS.sweep, everyMs: 10 },
    });
    await eventually(isDone, "a sweep");
    await sweep.close();
    return metrics.registry.metrics();
  }

  it("enqueues deliveries whose queue was emptied, including a delayed one", async () => {
    const notBefore = new Date(app.clock.now().getTime() + 60_000);
    const [waits, ready] = [await add("telegram", "anna", { notBefore }), await add("telegram", "bert")];
    const has = async (id: string, occasion?: string) =>
      app.queues.hasDelivery({ deliveryId: id, channel: "telegram" }, { occasion });
    app.clock.advance(10_000);
    await sweepUntil(() => has(ready));
    const early = await has(waits, `at-${notBefore.getTime()}`);

    app.clock.advance(60_000);
    await sweepUntil(() => has(waits, `at-${notBefore.getTime()}`));

    expect(early).to.equal(false);
  });

  it("fails only deliveries of a channel that has not been configured for ten minutes", async () => {
    const start = app.clock.now().getTime();
    const lease = { token: "a worker", until: new Date(start + 3_600_000) };
    const gone = [await add("slack", "a"), await add("slack", "b"), await add("discord", "c")];
    const held = await add("slack", "d", { lease });
    const limited = await add("slack", "e", { notBefore: new Date(start + 23 * 3_600_000) });
    const anew = await add("slack", "f", { since: new Date(start + 300_000) });
    const served = await add("telegram", "anna");
    app.clock.advance(9 * 60_000);
    const states = async () => {
      const found = await Promise.all(
        [...gone, limited, held, anew, served].map((id) => app.stores.deliveries.find(id)),
      );
      return found.map(({ state }) => state);
    };
    await sweepUntil(() => app.queues.hasDelivery({ deliveryId: served, channel: "telegram" }, {}));
    const before = await states();

    app.clock.advance(2 * 60_000);
    const metrics = await sweepUntil(async () => (await states()).includes("failed"));
    const after = await states();

    expect(new Set(before)).to.deep.equal(new Set(["pending"]));
    expect(after).to.deep.equal([...Array(4).fill("failed"), ...Array(3).fill("pending")]);
    const { reason } = await app.stores.deliveries.find(gone[0] as string);
    expect(reason).to.equal("The channel slack is not configured: add channels.slack.");
    expect(metrics).to.match(/^signalbox_deliveries_total\{channel="slack",outcome="failed"\} 3$/m);
  });
});

describe("sweep", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    sinon.restore();
    await app.close();
  });

  async function sweepUntil(
    isDone: () => unknown,
    { everyMs = 10, finalize = async () => {} }: { everyMs?: number; finalize?: (runId: string) => Promise<void> } = {},
  ): Promise<void> {
    const { stores, queues, clock } = app;
    app.clock.advance(10_000);
    const deps = { stores, queues, clock, finalize, metrics: new WorkerMetrics(), channels: new Set<string>() };
    const sweep = startSweep({
      ...deps,
      log: pino({ level: "silent" }),
      timings: { ...TIMINGS.sweep, everyMs },
    });
    await eventually(isDone, "a sweep");
    await sweep.close();
  }
  /** Waits for one complete sweep. */
  async function sweepOnce(): Promise<void> {
    const marker = await acceptRun(app, randomUUID());
    await sweepUntil(() => app.queues.has(agentHook, marker));
  }
  const isWoken = async () =>
    (await app.queues.depths()).some(({ queue, count }) => queue === heartbeat.name && count > 0);

  it("triggers no turn of the main session while that pauses after a failed one", async () => {
    const { mainEvents, sessions } = app.stores;
    await sessions.setReplyTarget({ channel: "log", to: "x" });
    await mainEvents.add([{ _id: "event", text: "x", source: "x", wake: true }]);
    await sessions.pauseMain("event", () => 60_000);
    await sweepOnce();
    const early = await isWoken();

    app.clock.advance(60_000);
    await sweepOnce();

    expect([early, await isWoken()]).to.deep.equal([false, true]);
  });

  it("runs in one process at a time", async () => {
    const { leases } = app.stores;
    const id = await acceptRun(app, "a");
    await leases.acquire("sweep", "another process", 60_000);
    const acquire = leases.acquire.bind(leases);
    let refused = 0;
    leases.acquire = async (...lease) => {
      const isAcquired = await acquire(...lease);
      if (!isAcquired) refused++;
      return isAcquired;
    };

    await sweepUntil(() => refused > 1);
    const early = await app.queues.has(agentHook, id);
    app.clock.advance(60_000);
    await sweepOnce();

    expect([early, await app.queues.has(agentHook, id)]).to.deep.equal([false, true]);
  });

  it("finalizes at most twenty runs concurrently", async () => {
    const { runs } = app.stores;
    for (let i = 0; i < 30; i++) await runs.cancel(await acceptRun(app, `s${i}`));
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    let [active, most, finalized] = [0, 0, 0];
    const finalize = async (_id: string) => {
      most = Math.max(most, ++active);
      if (active === 20) setImmediate(go);
      await goOn;
      await runs.markFinalized({ _id, round: 0 });
      active--;
      finalized++;
    };

    await sweepUntil(() => finalized === 30, { finalize });

    expect(most).to.equal(20);
  });

  it("renews its lease while it runs", async () => {
    const { leases, runs } = app.stores;
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    sinon.stub(runs.collection, "stream").callsFake(async function* () {
      await goOn;
      yield* [];
    });
    const lease = () => leases.collection.native.findOne({ _id: "sweep" });
    let first: Date | undefined;

    const isRenewed = async () => {
      const { until } = (await lease()) ?? {};
      first ??= until;
      const isLonger = until !== undefined && first !== undefined && until > first;
      if (isLonger) go();
      return isLonger;
    };
    await sweepUntil(isRenewed, { everyMs: 200 }).finally(go);
  });
});
