import { expect } from "chai";
import { countStages } from "../../../src/models/db/countBy.ts";
import { countedDeliveries } from "../../../src/models/deliveries/countDeliveries.ts";
import type { NewDelivery } from "../../../src/models/deliveries/delivery.ts";
import type { DeliveryFilter } from "../../../src/models/deliveries/readDeliveries.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { useSharedApp } from "../../support/useApp.ts";

const like = { runId: null, channel: "log", to: "ops", text: "Done", fault: null } as const;

describe("the preview of a delivery", () => {
  const app = useSharedApp({ config: "{ channels: { log: {} } }" });

  const event = { id: "e", rule: "ops" } as const;
  const cases: readonly [title: string, fields: Partial<NewDelivery>, preview: string | null][] = [
    ["is a short text", { text: "Done" }, "Done"],
    ["is on one line", { text: "\n\n**Done**\n\n- one\n- two" }, "**Done** - one - two"],
    ["ends after 120 characters", { text: "a".repeat(500) }, `${"a".repeat(120)}…`],
    ["breaks no character apart", { text: `${"a".repeat(119)}😀😀` }, `${"a".repeat(119)}\ufffd…`],
    ["is null for an empty text", { text: " " }, null],
    [
      "is the title of a question, whose text has the link that answers it",
      {
        event: { ...event, type: "gate.opened" },
        text: "Deploy? http://x/answer/token",
        title: "Release asks a question",
      },
      "Release asks a question",
    ],
    [
      "is null for a question without a title",
      { event: { ...event, type: "gate.opened" }, text: "Deploy? http://x/answer/token" },
      null,
    ],
    [
      "is null for a webhook, even if its body is known",
      {
        kind: "webhook",
        channel: "webhook",
        event: { ...event, type: "job.failed" },
        text: "",
        webhook: { body: "{}", contentType: "application/json", url: null },
      },
      null,
    ],
  ];
  for (const [index, [title, fields, preview]] of cases.entries()) {
    it(title, async () => {
      await app.stores.deliveries.add({ ...like, ...fields, _id: `d${index}` });

      const { body } = await app.call("GET", "/api/deliveries");
      const { body: retried } = await app.call("POST", `/api/deliveries/d${index}/retry`);

      expect(body.deliveries[0].preview).to.equal(preview);
      expect(retried.preview).to.equal(preview);
    });
  }
});

describe("GET /api/deliveries", () => {
  const token = "a-hook-token-of-length";
  let app: TestApp;
  before(async () => {
    app = await startApp({ config: `{ hooks: { enabled: true, token: "${token}" }, channels: { log: {} } }` });
  });
  after(() => app.close());

  it("names the run of each reply", async () => {
    const sent = { message: "hi", name: "CI main", deliver: false };
    const { body: run } = await app.call("POST", "/hooks/agent", sent, { Authorization: `Bearer ${token}` });
    await app.stores.deliveries.add({ ...like, _id: "reply", runId: run.runId });
    await app.stores.deliveries.add({ ...like, _id: "gone", runId: "deleted" });
    await app.stores.deliveries.add({ ...like, _id: "main" });

    const { body } = await app.call("GET", "/api/deliveries");

    const names = body.deliveries.map((one: { deliveryId: string; runName: string }) => [one.deliveryId, one.runName]);
    expect(names).to.have.deep.members([
      ["reply", "CI main"],
      ["gone", null],
      ["main", null],
    ]);
  });
});

describe("GET /api/deliveries/counts", () => {
  const app = useSharedApp({ config: "{ channels: { log: {}, telegram: { botToken: '1:t' } } }" });
  before(async () => {
    const { deliveries } = app.stores;
    const event = { id: "e", type: "job.failed", rule: "ops" } as const;
    await deliveries.add({ ...like, _id: "waits" });
    await deliveries.add({ ...like, _id: "failed", fault: "It was too late." });
    await deliveries.add({ ...like, _id: "chat", channel: "telegram", event });
    await deliveries.add({ ...like, _id: "woken", kind: "wake", channel: "wake", to: null, event });
    await deliveries.add({ ...like, _id: "hook", kind: "webhook", channel: "webhook", text: "", event });
  });

  const counts = [
    ["", { total: 5, pending: 3, sent: 1, failed: 1 }],
    ["?channel=log", { total: 2, pending: 1, sent: 0, failed: 1 }],
    ["?kind=channel", { total: 3, pending: 2, sent: 0, failed: 1 }],
    ["?kind=wake", { total: 1, pending: 0, sent: 1, failed: 0 }],
    ["?rule=ops", { total: 3, pending: 2, sent: 1, failed: 0 }],
    ["?rule=ops&kind=channel", { total: 1, pending: 1, sent: 0, failed: 0 }],
    ["?channel=log&kind=wake", { total: 0, pending: 0, sent: 0, failed: 0 }],
  ] as const;
  for (const [query, counted] of counts) {
    it(`counts by state the deliveries of ${query || "the whole service"}`, async () => {
      const { status, body } = await app.call("GET", `/api/deliveries/counts${query}`);

      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...counted, capped: false });
    });
  }

  it("rejects a filter that it does not have", async () => {
    const { status, body } = await app.call("GET", "/api/deliveries/counts?state=sent");

    expect([status, body.code]).to.deep.equal([400, "invalid_query"]);
  });
});

describe("counts of 12,000 deliveries", () => {
  const app = useSharedApp();
  before(async () => {
    const createdAt = new Date("2026-06-01T00:00:00Z");
    const deliveries = Array.from({ length: 12_000 }, (_, n) => {
      const kind = n % 4 === 0 ? ("webhook" as const) : ("channel" as const);
      return {
        _id: `d${n}`,
        runId: null,
        kind,
        channel: kind === "webhook" ? kind : `chat-${n % 3}`,
        to: "x",
        text: "",
        state: n % 100 === 0 ? "failed" : "sent",
        open: false,
        createdAt,
        endedAt: createdAt,
        ...(n % 2 === 0 && { event: { id: `e${n}`, type: "job.failed", rule: `rule-${n % 10}` } }),
      };
    });
    await app.stores.deliveries.collection.native.insertMany(deliveries as never, { ordered: false });
  });

  it("end at 10,000", async () => {
    const { body } = await app.call("GET", "/api/deliveries/counts");

    expect(body).to.include({ total: 10_000, failed: 120, capped: true });
  });

  const filters: [Omit<DeliveryFilter, "state">, documents: number][] = [
    [{}, 0],
    [{ channel: "chat-1" as never }, 0],
    [{ kind: "channel" }, 0],
    [{ kind: "webhook" }, 0],
    [{ rule: "rule-2" }, 1_200],
    [{ rule: "rule-2", kind: "channel" }, 1_200],
  ];
  for (const [filter, documents] of filters) {
    it(`read an index for ${JSON.stringify(filter)}, and at most ${documents} documents`, async () => {
      const cursor = app.stores.deliveries.collection.native.aggregate(countStages(countedDeliveries(filter), "state"));
      const plan = await cursor.explain("executionStats");

      const text = JSON.stringify(plan);
      expect(text).to.include("IXSCAN").and.to.not.include("COLLSCAN");
      const examined = [...text.matchAll(/"totalDocsExamined":(\d+)/g)].map(([, n]) => Number(n));
      expect(Math.max(...examined)).to.be.at.most(documents);
    });
  }
});
