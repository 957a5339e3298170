import { randomUUID } from "node:crypto";
import { setTimeout as busyFor } from "node:timers/promises";
import { expect } from "chai";
import pino from "pino";
import type { NewHookRequest } from "../../../src/models/intake/hookRequest.ts";
import { type RetentionSettings, retentionProcessor } from "../../../src/workers/processors/retention.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { useApp } from "../../support/useApp.ts";

const DAY_MS = 86_400_000;
const TOKEN = "a-hook-token-of-length";
const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "ci" } }, { match: { path: "items" }, forEach: "items", messageTemplate: "{{item}}" },
] } }`;
const LIMITS = { ms: 7 * DAY_MS, maxBytes: undefined };

describe("retention of kept requests", () => {
  const app = useApp({ config: CONFIG });

  const retain = async (settings: Partial<RetentionSettings> = {}) => {
    const signal = new AbortController().signal;
    const context = { signal, clock: app.clock, log: pino({ level: "silent" }), timings: FAST_TIMINGS };
    const all = { retainSingleUse: "7d", auditAfter: "90d", logsAfter: "30d", requests: LIMITS, ...settings };
    const outcome = await retentionProcessor(app.stores, all)({ id: "1", payload: {}, lastTry: true }, context);
    return (outcome as unknown as { result: { requests: number } }).result.requests;
  };
  const send = async (name: string, body: object): Promise<string[]> => {
    const answer = await app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}` });
    expect(answer.status).to.equal(202);
    return answer.body.runIds;
  };
  const list = async () => (await app.call("GET", "/api/hooks/requests")).body.requests as { bodyBytes: number }[];
  const stored = () => app.stores.hookRequests.collection.native.countDocuments();
  const endRuns = () =>
    app.stores.runs.collection.native.updateMany(
      {},
      { $set: { open: false, status: "completed", finalized: true, endedAt: app.clock.now(), forgotten: true } },
    );

  it("deletes requests older than their time, and leaves their runs", async () => {
    const [old] = await send("ci", {});
    app.clock.advance(6 * DAY_MS);
    await send("ci", { young: true });
    app.clock.advance(2 * DAY_MS);

    expect(await retain()).to.equal(1);

    expect(await list()).to.have.length(1);
    expect(await app.stores.runs.findExisting([old as string])).to.deep.equal(new Set([old]));
  });

  it("deletes the oldest requests while all are larger than the maximum size", async () => {
    const text = "x".repeat(100_000);
    for (let i = 0; i < 8; i++) {
      await send("ci", { text, i });
      app.clock.advance(1_000);
    }

    const deleted = await retain({ requests: { ...LIMITS, maxBytes: 350_000 } });

    const bodies = await app.stores.hookRequests.collection.native.find().sort({ createdAt: 1 }).toArray();
    expect([deleted, bodies.length]).to.deep.equal([5, 3]);
    expect(bodies.map(({ body }) => JSON.parse(Buffer.from(body!.value()).toString()).i)).to.deep.equal([5, 6, 7]);
  });

  for (const [which, limits] of [
    ["too old", { ...LIMITS, ms: 0 }],
    ["too many", { ...LIMITS, maxBytes: 0 }],
  ] as const)
    it(`pauses after each batch of requests that are ${which} for as long as the batch took`, async () => {
      const { hookRequests } = app.stores;
      const request = (): NewHookRequest => ({
        _id: randomUUID(),
        createdAt: app.clock.now(),
        hook: "ci",
        mapping: "ci",
        outcome: "dropped",
        status: 202,
        signature: null,
        address: null,
        contentType: null,
        head: "{}",
        body: Buffer.from("{}"),
        runIds: [],
      });
      await Promise.all(Array.from({ length: 600 }, () => hookRequests.add(request())));
      app.clock.advance(1_000);
      const times: { readonly startedAt: number; readonly endedAt: number }[] = [];
      const remove = hookRequests.delete.bind(hookRequests);
      hookRequests.delete = async (ids) => {
        if (ids.length === 0) return 0;
        const startedAt = performance.now();
        const [deleted] = await Promise.all([remove(ids), busyFor(100)]); // As a busy MongoDB answers.
        times.push({ startedAt, endedAt: performance.now() });
        return deleted;
      };

      expect(await retain({ requests: limits })).to.equal(600);

      const [first, second] = times;
      expect(second!.startedAt - first!.endedAt).to.be.above(first!.endedAt - first!.startedAt);
    });

  it("deletes the request of deleted runs once all of them are gone", async () => {
    const ids = await send("items", { items: [1, 2] });
    await endRuns();
    app.clock.advance(2 * DAY_MS);
    await app.stores.runs.collection.native.updateOne(
      { _id: ids[1] as string },
      { $set: { endedAt: app.clock.now() } },
    );

    await retain({ runsAfter: "1d" });
    expect([await app.stores.runs.collection.native.countDocuments(), await stored()]).to.deep.equal([1, 1]);
    app.clock.advance(2 * DAY_MS);
    await retain({ runsAfter: "1d" });
    expect([await app.stores.runs.collection.native.countDocuments(), await stored()]).to.deep.equal([0, 0]);
  });

  it("removes a request whose runs were never stored, and confirms one whose runs exist", async () => {
    await send("ci", { made: true });
    const lost: NewHookRequest = {
      _id: randomUUID(),
      createdAt: app.clock.now(),
      hook: "ci",
      mapping: "ci",
      outcome: "accepted",
      status: 202,
      signature: null,
      address: null,
      contentType: null,
      head: "{}",
      body: Buffer.from("{}"),
      runIds: [randomUUID()],
      unconfirmed: true,
    };
    await app.stores.hookRequests.add(lost);
    await retain();
    expect([(await list()).length, await stored()]).to.deep.equal([1, 2]); // its runs may still come

    app.clock.advance(11 * 60_000);
    await retain();

    const [left, ...more] = await app.stores.hookRequests.collection.native.find().toArray();
    expect(more).to.deep.equal([]);
    expect(left).not.to.have.property("unconfirmed");
    expect(await list()).to.have.length(1);
  });

  it("deletes everything that was kept before once requests are no longer kept", async () => {
    await send("ci", {});
    app.clock.advance(1_000);

    await retain({ requests: undefined });

    expect(await stored()).to.equal(0);
  });
});
