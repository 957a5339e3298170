import { expect } from "chai";
import { deliveryQuery } from "../../../src/models/deliveries/readDeliveries.ts";
import type { ExpectationDoc } from "../../../src/models/notifications/expectation.ts";
import { eventually } from "../../support/eventually.ts";
import { useApp } from "../../support/useApp.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const API_TOKEN = "the-token-of-the-API";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const CONFIG = JSON.stringify({
  channels: { log: {} },
  notify: [
    { id: "ops", on: ["job.failed", "job.stale"], to: { channel: "log", to: "night watch" }, after: 2, cooldown: "1h" },
    {
      id: "ci",
      on: ["job.completed"],
      where: { name: "Nightly", metadata: { team: "data" } },
      to: {
        webhook: {
          url: "https://ci.example.com/hidden/path?key=hidden",
          secret: [SECRET, `whsec_${Buffer.alloc(24, 1).toString("base64")}`],
          headers: { "X-Key": "hidden" },
          format: "cloudevents",
        },
      },
    },
    { id: "agent", on: ["job.failed"], to: { wake: "next-heartbeat" } },
  ],
  expect: [
    { id: "backup", name: "Nightly backup", every: "1d", grace: "2h" },
    { id: "report", name: "Report", every: "1w" },
  ],
});
/** A rule whose delivery is in the database, and nothing is sent. */
const like = { runId: null, text: "x", fault: null, kind: "channel", channel: "log", to: "night watch" } as const;

describe("rules and expectations over HTTP", () => {
  const app = useApp({ config: CONFIG, apiToken: API_TOKEN, readOnlyToken: "a-token-that-only-reads" });
  const call = (method: string, path: string, { token = API_TOKEN, body }: { token?: string; body?: object } = {}) =>
    app.call(method, path, body, { Authorization: `Bearer ${token}` });
  const rules = async () => (await call("GET", "/api/notify")).body.rules;

  it("lists rules and expectations in the order of the configuration, without secrets", async () => {
    const unseen = { lastSeenAt: null, missedAt: null, nextDueAt: null };
    const { status, body } = await call("GET", "/api/notify");

    const none = { url: null, format: null, channel: null, to: null, wakeMode: null };
    const fresh = { lastEvent: null, latestDeliveries: [], pending: 0, failed: 0 };
    expect(status).to.equal(200);
    expect(body.rules).to.deep.equal([
      {
        ...fresh,
        ruleId: "ops",
        on: ["job.failed", "job.stale"],
        where: null,
        after: 2,
        cooldown: "1h",
        to: { ...none, kind: "channel", channel: "log", to: "night watch" },
      },
      {
        ...fresh,
        ruleId: "ci",
        on: ["job.completed"],
        after: 1,
        cooldown: null,
        where: { name: "Nightly", metadata: { team: "data" } },
        to: { ...none, kind: "webhook", url: "https://ci.example.com", format: "cloudevents" },
      },
      {
        ...fresh,
        ruleId: "agent",
        on: ["job.failed"],
        where: null,
        after: 1,
        cooldown: null,
        to: { ...none, kind: "wake", wakeMode: "next-heartbeat" },
      },
    ]);
    expect(body.expectations).to.deep.equal([
      {
        expectationId: "backup",
        name: "Nightly backup",
        every: "1d",
        cron: null,
        timezone: null,
        grace: "2h",
        ...unseen,
      },
      { expectationId: "report", name: "Report", every: "1w", cron: null, timezone: null, grace: null, ...unseen },
    ]);
    expect(JSON.stringify(body)).to.not.match(/hidden|whsec_/);
  });

  it("shows the latest five deliveries of each rule, and counts those that wait or have failed today", async () => {
    const { deliveries } = app.stores;
    const event = (rule: string, type: "job.failed" | "test") => ({ id: "e", type, rule });
    await deliveries.add({ ...like, _id: "old", event: event("ops", "job.failed"), fault: "It was too late." });
    app.clock.advance(25 * 3_600_000);
    for (const n of [1, 2, 3, 4]) {
      await deliveries.add({ ...like, _id: `sent-${n}`, event: event("ops", "job.failed"), kind: "wake" });
      app.clock.advance(1_000);
    }
    await deliveries.add({ ...like, _id: "failed", event: event("ops", "job.failed"), fault: "No such recipient." });
    app.clock.advance(1_000);
    await deliveries.add({ ...like, _id: "waits", event: event("ops", "test") });
    await deliveries.add({ ...like, _id: "other", event: event("agent", "job.failed") });
    await deliveries.add({ ...like, _id: "reply" });

    const [ops, ci, agent] = await rules();

    const idsOf = (rule: { latestDeliveries: { deliveryId: string }[] }) =>
      rule.latestDeliveries.map(({ deliveryId }) => deliveryId);
    expect(idsOf(ops)).to.deep.equal(["waits", "failed", "sent-4", "sent-3", "sent-2"]);
    expect(ops).to.include({ pending: 1, failed: 1 });
    expect(ops.lastEvent).to.deep.equal({ type: "test", at: ops.latestDeliveries[0].createdAt });
    expect(ops.latestDeliveries[1]).to.include({
      kind: "channel",
      rule: "ops",
      eventType: "job.failed",
      state: "failed",
      lastStatus: null,
      reason: "No such recipient.",
    });
    expect(idsOf(ci)).to.deep.equal([]);
    expect(idsOf(agent)).to.deep.equal(["other"]);
  });

  it("shows when expected jobs were last seen and missed, unless the expectation has another name by now", async () => {
    const { expectations } = app.stores;
    await expectations.begin("backup", "Nightly backup");
    await expectations.begin("report", "Another name");
    const [backup, other] = await expectations.list();
    const seenAt = new Date("2026-01-31T02:00:00Z");
    if (backup) await expectations.seen(backup, seenAt);
    if (other) await expectations.seen(other, seenAt);
    const [seen] = (await expectations.list()).filter(({ _id }) => _id === "backup");
    const due = new Date("2026-02-01T04:00:00Z");
    if (seen) await expectations.missed(seen, due);

    const { body } = await call("GET", "/api/notify");

    const times = body.expectations.map(({ lastSeenAt, missedAt }: Record<string, string>) => [lastSeenAt, missedAt]);
    expect(times).to.deep.equal([
      [seenAt.toISOString(), due.toISOString()],
      [null, null],
    ]);

    await call("PUT", "/api/jobs/backup", { body: { name: "Nightly backup of eu-3" } });
    const [arrived] = (await call("GET", "/api/notify")).body.expectations;
    const job = (await call("GET", "/api/jobs/backup")).body;
    expect(arrived).to.include({ lastSeenAt: job.createdAt, missedAt: null });
  });

  it("shows when the next job is due: after the beginning, the newest job, and a miss", async () => {
    const { expectations } = app.stores;
    await expectations.keepOnly([]);
    const nextDueAt = async () => (await call("GET", "/api/notify")).body.expectations[0].nextDueAt;
    const later = (time: Date | string, hours: number) =>
      new Date(new Date(time).getTime() + hours * 3_600_000).toISOString();
    const read = async () => (await expectations.list())[0] as ExpectationDoc;

    const before = await nextDueAt();
    await expectations.begin("backup", "Nightly backup", new Date("2026-01-01T00:00:00Z"));
    const { since } = await read();
    const begun = await nextDueAt();
    await expectations.missed(await read(), new Date(later(since, 26)));
    const missed = await nextDueAt();
    await call("PUT", "/api/jobs/backup-later", { body: { name: "Nightly backup of eu-4" } });
    const { createdAt } = (await call("GET", "/api/jobs/backup-later")).body;
    const arrived = await nextDueAt();

    expect([before, begun, missed]).to.deep.equal([null, later(since, 26), later(since, 50)]);
    expect(arrived).to.equal(later(createdAt, 26));
  });

  it("refuses a test of a rule that does not exist, and a test with a token that only reads", async () => {
    const missing = await call("POST", "/api/notify/nothing/test");
    const invalid = await call("POST", "/api/notify/No_Rule/test");
    const reader = await call("POST", "/api/notify/ops/test", { token: "a-token-that-only-reads" });

    expect([missing.status, missing.body.code]).to.deep.equal([404, "rule_not_found"]);
    expect(missing.body.detail).to.equal('There is no rule "nothing" in `notify`.');
    expect([invalid.status, invalid.body.code]).to.deep.equal([404, "rule_not_found"]);
    expect(reader.status).to.equal(403);
  });

  it("finds the deliveries of a rule and of a kind by an index, among any number of replies", async () => {
    const { deliveries } = app.stores;
    for (let n = 0; n < 300; n++) await deliveries.add({ ...like, _id: `reply-${n}` });
    await deliveries.add({ ...like, _id: "event", kind: "wake", event: { id: "e", type: "test", rule: "ops" } });

    for (const filter of [{ rule: "ops" }, { kind: "wake" }, { rule: "ops", state: ["sent"], kind: "wake" }] as const) {
      const query = deliveries.collection.native.find(deliveryQuery(filter)).sort({ createdAt: -1, _id: -1 });
      const { executionStats } = await query.limit(101).explain("executionStats");
      const { totalDocsExamined: documents, totalKeysExamined: keys, nReturned: rows } = executionStats;

      expect({ filter, rows, documents, keys }).to.deep.equal({ filter, rows: 1, documents: 1, keys: 1 });
    }
  });

  it("finds messages by the kind channel, also replies, which are stored without a kind", async () => {
    const { kind: _, ...reply } = like;
    await app.stores.deliveries.add({ ...reply, _id: "reply" });
    await app.stores.deliveries.add({ ...like, _id: "alert" });
    await app.stores.deliveries.add({ ...like, _id: "event", kind: "wake" });

    const { body } = await call("GET", "/api/deliveries?kind=channel");

    const found = body.deliveries.map(({ deliveryId, kind }: Record<string, string>) => [deliveryId, kind]);
    expect(found).to.have.deep.members([
      ["reply", "channel"],
      ["alert", "channel"],
    ]);
  });

  it("retries and cancels the delivery of a webhook, which needs no channel", async () => {
    const webhook = { body: "{}", contentType: "application/json", url: null };
    const event = { id: "e", type: "job.failed", rule: "ci" } as const;
    await app.stores.deliveries.add({
      ...like,
      _id: "w",
      kind: "webhook",
      channel: "webhook",
      to: "ci",
      event,
      webhook,
    });

    const cancelled = await call("POST", "/api/deliveries/w/cancel");
    const retried = await call("POST", "/api/deliveries/w/retry");

    expect([cancelled.status, cancelled.body.state]).to.deep.equal([200, "failed"]);
    expect([retried.status, retried.body.state, retried.body.kind]).to.deep.equal([202, "pending", "webhook"]);
  });

  describe("with a worker", () => {
    let worker: TestWorker;
    beforeEach(async () => {
      worker = await startWorker(app);
    });
    afterEach(() => worker.close());
    const deliveriesOf = async (query: string) => (await call("GET", `/api/deliveries?${query}`)).body.deliveries;

    it("sends a test through the target of the rule, whatever its conditions and limits", async () => {
      const first = await call("POST", "/api/notify/ops/test");
      const second = await call("POST", "/api/notify/ops/test");

      expect([first.status, second.status]).to.deep.equal([202, 202]);
      expect(first.body.deliveryId).to.not.equal(second.body.deliveryId);
      await eventually(async () => (await deliveriesOf("rule=ops&state=sent")).length === 2, "both tests to be sent");
      const found = await deliveriesOf("rule=ops");
      expect(found.map(({ deliveryId }: { deliveryId: string }) => deliveryId)).to.have.members([
        first.body.deliveryId,
        second.body.deliveryId,
      ]);
      expect(found[0]).to.include({
        kind: "channel",
        rule: "ops",
        eventType: "test",
        channel: "log",
        to: "night watch",
      });
      expect(await deliveriesOf("rule=agent")).to.deep.equal([]);
    });

    it("adds the test of a rule that wakes the agent to the events of the main session", async () => {
      const { body } = await call("POST", "/api/notify/agent/test");

      await eventually(async () => (await deliveriesOf("rule=agent")).length === 1, "the delivery");
      const [delivery] = await deliveriesOf("rule=agent&kind=wake");
      const { body: main } = await call("GET", "/api/sessions/main/events");
      expect(delivery).to.include({ deliveryId: body.deliveryId, kind: "wake", state: "sent", eventType: "test" });
      expect(main.events.map(({ source }: { source: string }) => source)).to.deep.equal(["notification agent"]);
    });

    it("shows the event of a failed job with the rule that has sent it", async () => {
      await call("PUT", "/api/jobs/import", { body: { name: "Import" } });
      await call("PUT", "/api/jobs/import", { body: { status: "failed", message: "Disk full" } });

      await eventually(async () => (await deliveriesOf("rule=agent")).length === 1, "the delivery");
      const [, , agent] = await rules();
      expect(agent.lastEvent.type).to.equal("job.failed");
    });
  });
});
