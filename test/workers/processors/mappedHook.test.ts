import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import sinon from "sinon";
import { compileMappings } from "../../../src/hooks/mappings/mapping.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { mappedHookProcessor } from "../../../src/workers/processors/mappedHook.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { acceptRun, agentRequest } from "../../support/factories.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("mapped hook processor: a run whose transform finds no thread", () => {
  const app = useSharedApp({
    config: `{ hooks: {
        transformsDir: "examples/transforms",
        mappings: [{ match: { path: "x" }, transform: { module: "alerts.js" } }],
      } }`,
  });

  /** Processes the run once. Returns the error of that try, or else the run. */
  async function attempt({ lastTry, stopping = false }: { lastTry: boolean; stopping?: boolean }) {
    const { stores, config, clock } = app;
    const _id = randomUUID();
    const mapped = { mapping: "x", call: "{}", wakeMode: "now" as const };
    const common = { kind: "agent" as const, name: "x", sessionKey: `hook:${_id}`, singleUse: true, request: null };
    await stores.runs.accept([{ _id, mapped, ...common }]);
    const finalized: string[] = [];
    const process = mappedHookProcessor({
      stores,
      hooks: config.hooks,
      agents: config.agents,
      metrics: new WorkerMetrics(),
      mappings: compileMappings(config.hooks),
      finalize: async (runId) => void finalized.push(runId),
      transform: () => Promise.reject(new AppError("unavailable", { detail: "No thread can be had." })),
      backpressureDelayMs: () => 0,
      enqueue: () => Promise.reject(new Error("nothing is to be put on a queue")),
      triggerHeartbeat: () => Promise.reject(new Error("nothing is to be triggered")),
    });
    const signal = stopping ? AbortSignal.abort() : new AbortController().signal;
    const context = { signal, clock, log: pino({ level: "silent" }), timings: FAST_TIMINGS };
    const thrown = await process({ id: _id, payload: { runId: _id }, lastTry }, context).then(
      () => null,
      (error: AppError) => error.code,
    );
    const { status, error } = await stores.runs.find(_id);
    return { thrown, status, error, finalized: finalized.length };
  }
  const waits = { thrown: "unavailable", status: "queued", error: null, finalized: 0 };
  const error = { code: "unavailable", message: "No thread can be had." };
  const fails = { thrown: null, status: "failed", error, finalized: 1 };

  it("is tried again", async () => {
    expect(await attempt({ lastTry: false })).to.deep.equal(waits);
  });

  it("fails with its reason in the queue's last try", async () => {
    expect(await attempt({ lastTry: true })).to.deep.equal(fails);
  });

  it("is tried again when the process stops", async () => {
    expect(await attempt({ lastTry: true, stopping: true })).to.deep.equal(waits);
  });
});

describe("mapped hook processor: a run that is interrupted", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({
      config: `{
        agents: { defaults: { trackAsJob: true } },
        hooks: { mappings: [
          { match: { path: "ci" }, sessionKey: "hook:other", messageTemplate: "m" },
          { match: { path: "alert" }, action: "wake", textTemplate: "t" },
        ] },
      }`,
    });
  });
  afterEach(async () => {
    sinon.restore();
    await app.close();
  });
  const unavailable = () => Promise.reject(new AppError("unavailable"));

  /** Processes a run of a mapping, with another run behind it in the session that it leaves. */
  async function carryOut(mapping: string) {
    const { stores, config, clock } = app;
    const _id = randomUUID();
    const mapped = { mapping, call: '{"payload":{}}', wakeMode: "now" as const };
    const run = { _id, kind: "agent" as const, name: "x", sessionKey: "s", singleUse: false, mapped, request: null };
    await stores.runs.accept([run]);
    const next = await acceptRun(app, "s");
    const enqueued: string[] = [];
    const process = mappedHookProcessor({
      stores,
      hooks: config.hooks,
      agents: config.agents,
      metrics: new WorkerMetrics(),
      mappings: compileMappings(config.hooks),
      finalize: async () => {},
      transform: () => Promise.reject(new Error("there is no transform")),
      backpressureDelayMs: () => 0,
      enqueue: async (runId) => void enqueued.push(runId === _id ? "itself" : runId === next ? "the next" : runId),
      triggerHeartbeat: async () => void enqueued.push("a heartbeat"),
    });
    const context = {
      signal: new AbortController().signal,
      clock,
      log: pino({ level: "silent" }),
      timings: FAST_TIMINGS,
    };
    const carry = () => process({ id: _id, payload: { runId: _id }, lastTry: false }, context);
    return { _id, carry, enqueued };
  }

  it("is enqueued, with the next run of the session that it left, when MongoDB was down before its job was created", async () => {
    const { carry, enqueued } = await carryOut("ci");
    sinon.stub(app.stores.jobs, "put").callThrough().onFirstCall().callsFake(unavailable);

    await carry();

    expect(enqueued).to.deep.equal(["itself", "the next"]);
  });

  it("wakes the main session and enqueues the next run of its session when it became an event and MongoDB was down after that", async () => {
    const { carry, enqueued } = await carryOut("alert");
    sinon.stub(app.stores.runs, "findNext").callThrough().onFirstCall().callsFake(unavailable);

    await carry();

    expect(new Set(enqueued)).to.deep.equal(new Set(["a heartbeat", "the next"]));
    expect(await app.stores.mainEvents.countWaiting()).to.equal(1);
  });

  it("is enqueued by the next worker when its own died after mapping it", async () => {
    const { _id, carry, enqueued } = await carryOut("ci");
    const made = { kind: "agent" as const, name: "x", sessionKey: "s", singleUse: false, request: agentRequest };
    await app.stores.runs.applyMapping(_id, 0, made);

    await carry();

    expect(enqueued).to.deep.equal(["itself"]);
  });

  it("is not enqueued when it was cancelled meanwhile", async () => {
    const { _id, carry, enqueued } = await carryOut("ci");
    const { runs } = app.stores;
    const applyMapping = runs.applyMapping.bind(runs);
    sinon.stub(runs, "applyMapping").callsFake(async (...args) => {
      await runs.cancel(_id);
      return applyMapping(...args);
    });

    await carry();

    expect(enqueued).to.not.include("itself");
  });
});
