import { expect } from "chai";
import { deleteUnusedCalls } from "../../src/models/runs/hookCall.ts";
import type { TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { MappedHookFixture } from "../support/hooks/mappedHookFixture.ts";
import { useSharedApp } from "../support/useApp.ts";

const HOOK = { Authorization: "Bearer a-hook-token-of-length" };
const quiet = 'deliver: false, wakeMode: "next-heartbeat"';

describe("a request with forEach", () => {
  const app = useSharedApp({
    config: `{ hooks: {
        enabled: true, token: "a-hook-token-of-length", maxWaitingRuns: 1500,
        mappings: [
          { match: { path: "each" }, forEach: "items", messageTemplate: "{{items[0]}}", ${quiet} },
          { match: { path: "other" }, messageTemplate: "x", ${quiet} },
          { match: { path: "burst" }, forEach: "items", messageTemplate: "x", ${quiet} },
        ],
      } }`,
  });

  const items = Array<number>(1_000).fill(0);
  const hostile = { items, x: "x".repeat(33_000) };
  const each = (body: object, headers = {}) => app.call("POST", "/hooks/each", body, { ...HOOK, ...headers });
  const stored = async () => {
    const size = [{ $group: { _id: null, bytes: { $sum: { $bsonSize: "$$ROOT" } } } }];
    const [runs, calls] = await Promise.all(
      [app.stores.runs, app.stores.hookCalls].map(({ collection }) =>
        (collection as TestApp["stores"]["runs"]["collection"]).aggregate<{ bytes: number }>(size),
      ),
    );
    return (runs?.[0]?.bytes ?? 0) + (calls?.[0]?.bytes ?? 0);
  };

  it("is stored once, with less than a kilobyte for each of its runs", async () => {
    const { status, body } = await each(hostile, { "Idempotency-Key": "first" });

    expect(status).to.equal(202);
    expect(body.runIds).to.have.length(1_000);
    expect(await stored()).to.be.below(1_000 * 1_024 + 2 * JSON.stringify(hostile).length);
    expect(await app.stores.hookCalls.collection.native.countDocuments()).to.equal(1);
  });

  it("is answered 429 and stores nothing when it exceeds the mapping's maximum of waiting runs", async () => {
    const before = await stored();

    const full = await each(hostile);
    const single = await each({ items: items.slice(0, 501) });
    const again = await each(hostile, { "Idempotency-Key": "first" });
    const other = await app.call("POST", "/hooks/other", {}, HOOK);
    const after = await stored();

    expect([full.status, single.status]).to.deep.equal([429, 429]);
    expect(full.body).to.deep.include({ code: "rate_limited" });
    expect(full.body.detail).to.include("hooks.maxWaitingRuns");
    expect(Number(full.headers.get("Retry-After"))).to.be.within(1, 60);
    expect([again.status, again.body.runIds.length, other.status]).to.deep.equal([202, 1_000, 202]);
    expect(after - before).to.be.below(2_000); // This is the run of the other mapping.
  });

  it("is accepted when it still fits, and again with the same Idempotency-Key while the mapping is full", async () => {
    const fits = { items: items.slice(0, 500) };

    const first = await each(fits, { "Idempotency-Key": "fits" });
    const again = await each(fits, { "Idempotency-Key": "fits" });
    const more = await each({ items: [1] });

    expect([first.status, again.status, more.status]).to.deep.equal([202, 202, 429]);
    expect(again.body).to.deep.equal(first.body);
  });

  it("is deleted by retention when no run refers to it", async () => {
    const old = new Date(Date.now() + 60_000);
    await app.stores.hookCalls.add("nobody", { forEach: "items", call: "{}", maxPromptChars: 0 });

    let total = 0;
    for await (const deleted of deleteUnusedCalls(app.stores, old)) total += deleted;

    expect(total).to.equal(1);
    expect(await app.stores.hookCalls.collection.native.countDocuments()).to.equal(2);
  });

  it("does not exceed the maximum together with others of the same moment", async () => {
    const body = { items: items.slice(0, 400) };
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await app.call("POST", "/hooks/burst", body, HOOK)).status),
    );

    const accepted = statuses.filter((status) => status === 202).length;
    expect(accepted).to.be.within(1, 3);
    expect(statuses.filter((status) => status === 429)).to.have.length(10 - accepted);
    const { collection } = app.stores.runs;
    expect(await collection.native.countDocuments({ "mapped.mapping": "burst" })).to.equal(accepted * 400);
  });
});

describe("runs of a request with forEach", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    fixture = await MappedHookFixture.start(
      `{ match: { path: "each" }, forEach: "items", messageTemplate: "{{title}}: {{item.id}} of {{items}}", ${quiet} },
       { match: { path: "all" }, forEach: "items", ${quiet} },
       { match: { path: "fail" }, forEach: "items", messageTemplate: "{{item.id}}", sessionKey: "{{item.key}}", ${quiet} }`,
    );
  });
  after(() => fixture.close());

  it("each receive their own item and the rest of the body, and the request is deleted after the last one", async () => {
    const items = [1, 2, 3].map((id) => ({ id }));
    const runIds = await fixture.acceptedAll("each", { title: "List", items });
    await Promise.all(runIds.map((id) => fixture.ended(id)));

    for (const [i, runId] of runIds.entries()) {
      const { request } = (await fixture.app.call("GET", `/api/runs/${runId}/request`)).body;
      expect(request.message).to.equal(`List: ${i + 1} of [{"id":${i + 1}}]`);
    }
    await eventually(
      async () => (await fixture.app.stores.hookCalls.collection.native.countDocuments()) === 0,
      "the deletion",
    );
  });

  it("keep the request when they fail, so that they can be read and retried", async () => {
    const runIds = await fixture.acceptedAll("fail", { items: [{ id: 1, key: "main" }, { id: 2 }] });
    const [failed, completed] = await Promise.all(runIds.map((id) => fixture.ended(id)));

    const shown = (await fixture.app.call("GET", `/api/runs/${runIds[0]}/request`)).body;

    expect([failed?.error?.code, completed?.status]).to.deep.equal(["mapping_failed", "completed"]);
    expect(shown.call.payload).to.deep.equal({ items: [{ id: 1, key: "main" }] });
  });

  it("fail when a template of the whole body repeats the request more than sixteen times", async () => {
    const runIds = await fixture.acceptedAll("all", { items: Array<number>(100).fill(7), x: "x".repeat(30_000) });
    const runs = await Promise.all(runIds.map((id) => fixture.ended(id)));

    const completed = runs.filter(({ status }) => status === "completed").length;
    expect(completed).to.be.within(14, 17);
    const failed = runs.find(({ status }) => status === "failed");
    expect(failed?.error).to.deep.include({ code: "mapping_failed" });
    expect(failed?.error?.message).to.include("message repeats the request");
  });
});
