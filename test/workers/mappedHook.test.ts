import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import { compileMappings } from "../../src/hooks/mapping.ts";
import { AppError } from "../../src/shared/errors.ts";
import { WorkerMetrics } from "../../src/workers/metrics.ts";
import { mappedHookProcessor } from "../../src/workers/processors/mappedHook.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { FAST_TIMINGS } from "../support/timings.ts";

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
      settle: async (runId) => void settled.push(runId),
      transform: () => Promise.reject(new AppError("unavailable", { detail: "No thread can be had." })),
      crowdedMs: () => 0,
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
