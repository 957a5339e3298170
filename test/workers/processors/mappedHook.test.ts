import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import sinon from "sinon";
import { compileMappings } from "../../../src/hooks/mappings/mapping.ts";
import type { AgentRequest } from "../../../src/models/runs/run.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { mappedHookProcessor } from "../../../src/workers/processors/mappedHook.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

describe("a mapped run whose transform finds no thread", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({
      config: `{ hooks: {
        transformsDir: "examples/transforms",
        mappings: [{ match: { path: "x" }, transform: { module: "alerts.js" } }],
      } }`,
    });
  });
  after(() => app.close());

  /** Tries it once. @returns what the try rejects with, or else the run */
  async function attempt({ lastTry, stopping = false }: { lastTry: boolean; stopping?: boolean }) {
    const { stores, config, clock } = app;
    const _id = randomUUID();
    const mapped = { mapping: "x", call: "{}", wakeMode: "now" as const };
    const common = { kind: "agent" as const, name: "x", sessionKey: `hook:${_id}`, singleUse: true, request: null };
    await stores.runs.accept([{ _id, mapped, ...common }]);
    const settled: string[] = [];
    const process = mappedHookProcessor({
      ...{ stores, hooks: config.hooks, defaults: config.agents.defaults, metrics: new WorkerMetrics() },
      mappings: compileMappings(config.hooks),
      finalize: async (runId) => void settled.push(runId),
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
    return { thrown, status, error, settled: settled.length };
  }
  const waits = { thrown: "unavailable", status: "queued", error: null, settled: 0 };
  const error = { code: "unavailable", message: "No thread can be had." };
  const fails = { thrown: null, status: "failed", error, settled: 1 };

  it("waits for another try", async () => {
    expect(await attempt({ lastTry: false })).to.deep.equal(waits);
  });

  it("fails with the queue's last try, and says so", async () => {
    expect(await attempt({ lastTry: true })).to.deep.equal(fails);
  });

  it("waits where it is the process that is to stop", async () => {
    expect(await attempt({ lastTry: true, stopping: true })).to.deep.equal(waits);
  });
});

describe("a mapped run that MongoDB is lost in the middle of", () => {
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

  /** Carries out a run of a mapping, with another run behind it in the session that it leaves. */
  async function carryOut(mapping: string) {
    const { stores, config, clock } = app;
    const _id = randomUUID();
    const mapped = { mapping, call: '{"payload":{}}', wakeMode: "now" as const };
    const run = { _id, kind: "agent" as const, name: "x", sessionKey: "s", singleUse: false, mapped, request: null };
    await stores.runs.accept([run]);
    const next = await acceptRun(app, "s");
    const enqueued: string[] = [];
    const process = mappedHookProcessor({
      ...{ stores, hooks: config.hooks, defaults: config.agents.defaults, metrics: new WorkerMetrics() },
      mappings: compileMappings(config.hooks),
      finalize: async () => {},
      transform: () => Promise.reject(new Error("there is no transform")),
      backpressureDelayMs: () => 0,
      enqueue: async (runId) => void enqueued.push(runId === _id ? "itself" : runId === next ? "the next" : runId),
      triggerHeartbeat: async () => void enqueued.push("a heartbeat"),
    });
    const context = {
      ...{ signal: new AbortController().signal, clock, log: pino({ level: "silent" }), timings: FAST_TIMINGS },
    };
    const carry = () => process({ id: _id, payload: { runId: _id }, lastTry: false }, context);
    return { _id, carry, enqueued };
  }

  it("is put on its queue, and the next of the session that it left, once MongoDB is back before its job was created", async () => {
    const { carry, enqueued } = await carryOut("ci");
    sinon.stub(app.stores.jobs, "put").callThrough().onFirstCall().callsFake(unavailable);

    await carry();

    expect(enqueued).to.deep.equal(["itself", "the next"]);
  });

  it("that became an event wakes the main session and passes its session on, once MongoDB is back after it was mapped", async () => {
    const { carry, enqueued } = await carryOut("alert");
    sinon.stub(app.stores.runs, "findNext").callThrough().onFirstCall().callsFake(unavailable);

    await carry();

    expect(new Set(enqueued)).to.deep.equal(new Set(["a heartbeat", "the next"]));
    expect(await app.stores.events.countWaiting()).to.equal(1);
  });

  it("is put on its queue by the next worker, where its own died once it was mapped", async () => {
    const { _id, carry, enqueued } = await carryOut("ci");
    const made = { kind: "agent" as const, name: "x", sessionKey: "s", singleUse: false, request: {} as AgentRequest };
    await app.stores.runs.mapTo(_id, 0, made);

    await carry();

    expect(enqueued).to.deep.equal(["itself"]);
  });

  it("is not put on its queue where it was cancelled meanwhile", async () => {
    const { _id, carry, enqueued } = await carryOut("ci");
    const { runs } = app.stores;
    const mapTo = runs.mapTo.bind(runs);
    sinon.stub(runs, "mapTo").callsFake(async (...args) => {
      await runs.cancel(_id);
      return mapTo(...args);
    });

    await carry();

    expect(enqueued).to.not.include("itself");
  });
});
