import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import { mappedHook } from "../../src/shared/queues.ts";
import { startSweep } from "../../src/workers/sweep.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

describe("the sweep over runs that wait for their mapping", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  /** Writes a run down as if the process that accepted it had died before it put it on the queue. */
  async function accept(): Promise<string> {
    const _id = randomUUID();
    const mapped = { mapping: "x", call: "{}", wakeMode: "now" as const };
    const common = { kind: "agent" as const, name: "x", sessionKey: `hook:${_id}`, singleUse: true, request: null };
    await app.stores.runs.accept([{ _id, mapped, ...common }]);
    return _id;
  }
  async function sweepOnce(): Promise<void> {
    const { stores, queues, clock } = app;
    app.clock.advance(10_000);
    const sweep = startSweep({ stores, queues, clock, log: pino({ level: "silent" }), settle: async () => {} }, 10);
    for (const marker of [await accept(), await accept()]) {
      app.clock.advance(10_000);
      await eventually(() => queues.has(mappedHook, marker), "a sweep");
    }
    await sweep.close();
  }
  const onQueue = (ids: string[]) => Promise.all(ids.map((id) => app.queues.has(mappedHook, id)));

  it("puts one back that the queue does not know", async () => {
    const id = await accept();

    await sweepOnce();

    expect(await onQueue([id])).to.deep.equal([true]);
  });

  it("leaves out those that are over, or past their mapping", async () => {
    const ids = [await accept(), await accept(), await accept()] as const;
    await app.stores.runs.cancel(ids[0]);
    await app.stores.runs.mapTo(ids[1], 0, { kind: "dropped" });
    await app.stores.runs.mapTo(ids[2], 0, { kind: "failed", error: { code: "mapping_failed", message: "x" } });

    await sweepOnce();

    expect(await onQueue([...ids])).to.deep.equal([false, false, false]);
  });

  it("makes no second entry of one that was begun anew by hand and is on the queue", async () => {
    const id = await accept();
    await app.stores.runs.mapTo(id, 0, { kind: "failed", error: { code: "mapping_failed", message: "x" } });
    await app.stores.runs.markSettled(id, 0);
    await app.call("POST", `/api/runs/${id}/retry`);

    await sweepOnce();

    expect(await onQueue([`${id}-round-1`, id])).to.deep.equal([true, false]);
  });
});
