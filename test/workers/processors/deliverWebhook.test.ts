import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Redis } from "ioredis";
import { Webhook } from "standardwebhooks";
import type { DeliveryDoc } from "../../../src/models/deliveries/delivery.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { TIMES } from "../../support/random.ts";
import { answers, breaks, type ChannelServer, hangs, startChannelServer } from "../../support/servers/channelServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const PATH_SECRET = "k3y-in-the-path";

/** Deliveries that wait for a receiver that hangs; the nightly command has more. */
const MANY = TIMES > 1 ? 1_000 : 60;

describe("the delivery of a webhook", () => {
  let app: TestApp;
  let worker: TestWorker;
  let receiver: ChannelServer;
  let dead: ChannelServer;
  let hanging: readonly ChannelServer[];
  beforeEach(async () => {
    receiver = await startChannelServer(answers(204));
    dead = await startChannelServer(hangs);
    hanging = await Promise.all(Array.from({ length: 10 }, () => startChannelServer(hangs)));
    const rule = (id: string, url: string, more = {}) => ({
      id,
      on: ["job.failed"],
      to: { webhook: { url, secret: SECRET, ...more } },
    });
    const rules = [
      rule("sales", `${receiver.url}/${PATH_SECRET}`, { headers: { "X-Env": "prod" } }),
      rule("dead", dead.url),
      { id: "chat", on: ["job.failed"], to: { channel: "log", to: "ops" } },
    ];
    const allowedHosts = [receiver, ...hanging].map(({ url }) => new URL(url).host);
    const outbound = { allowedHosts, secret: [SECRET, OLD_SECRET] };
    app = await startApp({
      config: JSON.stringify({ notify: rules, outbound, channels: { log: {} }, worker: { shutdownSeconds: 3 } }),
    });
    worker = await startWorker(app);
  });
  afterEach(async () => {
    await worker.close();
    await app.close();
    await Promise.all([receiver, dead, ...hanging].map((server) => server.close()));
    const lines = JSON.stringify([...worker.log, ...app.log]);
    for (const secret of [SECRET, OLD_SECRET, PATH_SECRET, "the body"]) expect(lines).to.not.include(secret);
  });

  /** Stores a delivery and enqueues it. @param given overrides its fields */
  async function add(
    rule: string | null,
    given: Partial<DeliveryDoc> = {},
    url: string | null = null,
  ): Promise<string> {
    const id = randomUUID();
    const body = JSON.stringify({
      type: "job.failed",
      timestamp: new Date().toISOString(),
      data: { text: "the body" },
    });
    await app.stores.deliveries.add({
      _id: id,
      runId: null,
      kind: "webhook",
      channel: "webhook",
      text: "",
      fault: null,
      to: rule ?? URL.parse(url ?? "")?.host ?? null,
      event: { id: `evt-${id}`, type: "job.failed", rule },
      webhook: { body, contentType: "application/json", url },
    });
    await app.stores.deliveries.collection.native.updateOne({ _id: id }, { $set: { reason: null, ...given } });
    await app.queues.deliver({ deliveryId: id, channel: "webhook" });
    return id;
  }
  const until = (id: string, isThere: (delivery: DeliveryDoc) => boolean, what: string, withinMs?: number) =>
    eventually(
      async () => {
        const delivery = await app.stores.deliveries.find(id);
        return isThere(delivery) && delivery;
      },
      `the delivery ${what}`,
      withinMs,
    );
  const sent = (id: string, withinMs?: number) => until(id, ({ state }) => state === "sent", "to be sent", withinMs);
  const failed = (id: string, withinMs?: number) => until(id, ({ state }) => state === "failed", "to fail", withinMs);

  it("is sent with the secret and headers of its rule, and verified by the receiver", async () => {
    const id = await add("sales");

    const delivery = await sent(id);

    const [request = expect.fail("nothing was sent")] = receiver.requests;
    expect(request.headers).to.include({ "webhook-id": `evt-${id}`, "x-env": "prod" });
    expect(new Webhook(SECRET).verify(request.text, request.headers as Record<string, string>)).to.be.an("object");
    expect(delivery).to.deep.include({ attempts: 1, lastStatus: 204, reason: null, open: false, lease: null });
    const counted = 'signalbox_deliveries_total{channel="webhook",outcome="sent"} 1'; // after the end is stored
    await eventually(async () => (await worker.metrics.registry.metrics()).includes(counted), counted);
  });

  it("is retried after 500 and after a broken connection, under the same id with a new signature", async () => {
    receiver.script(answers(500), breaks);
    const id = await add("sales");

    const delivery = await sent(id);

    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).to.deep.equal(Array(3).fill(`evt-${id}`));
    for (const { text, headers } of receiver.requests) {
      new Webhook(SECRET).verify(text, headers as Record<string, string>);
    }
    expect(delivery).to.deep.include({ attempts: 3, failures: 2, lastStatus: 204 });
  });

  it("waits between its tries, with the reason and the last status on its record", async () => {
    receiver.script(answers(503, "", { "Retry-After": "3600" }));
    const before = Date.now();
    const id = await add("sales");

    const delivery = await until(id, ({ failures }) => failures === 1, "to fail once");

    expect(delivery).to.deep.include({ state: "pending", lastStatus: 503, attempts: 1, lease: null });
    expect(delivery.reason).to.equal("The receiver answered 503.");
    expect(Number(delivery.notBefore) - before).to.be.within(3_600_000, 3_660_000);
  });

  it("fails for good at 410, without another try", async () => {
    receiver.script(answers(410));
    const id = await add("sales");

    const delivery = await failed(id);

    expect(delivery).to.deep.include({ lastStatus: 410, attempts: 1 });
    expect(receiver.requests).to.have.length(1);
  });

  it("fails for good when the configuration has its rule no more, or not as a webhook", async () => {
    for (const rule of ["removed", "chat"]) {
      const delivery = await failed(await add(rule));
      expect(delivery.reason).to.equal(`The configuration no longer has a rule ${rule} with a webhook.`);
    }
    expect(receiver.requests).to.deep.equal([]);
  });

  it("is sent to a callbackUrl with both secrets of `outbound`, and to no host that is not allowed", async () => {
    const there = await add(null, {}, `${receiver.url}/callback`);
    const elsewhere = await add(null, {}, `${dead.url}/callback`);

    await sent(there);
    const refused = await failed(elsewhere);

    const [request = expect.fail("nothing was sent")] = receiver.requests;
    for (const secret of [SECRET, OLD_SECRET]) {
      new Webhook(secret).verify(request.text, request.headers as Record<string, string>);
    }
    expect(request.headers).to.not.have.property("x-env");
    expect(refused.reason).to.match(/^callbackUrl points to a host that is not allowed/);
    expect(dead.requests).to.deep.equal([]);
  });

  it(`is not delayed by ${MANY} deliveries to a receiver that hangs`, async function () {
    this.timeout(180_000);
    const waiting = await Promise.all(Array.from({ length: MANY }, () => add("dead")));
    await eventually(() => dead.requests.length > 0, "the hanging receiver to be called");

    const ids = await Promise.all(Array.from({ length: 15 }, () => add("sales")));
    await Promise.all(ids.map((id) => sent(id, 120_000)));

    expect(dead.requests.filter(({ cancelled }) => !cancelled).length).to.be.at.most(2);
    const open = await app.stores.deliveries.collection.native.countDocuments({ open: true, to: "dead" });
    expect(open).to.be.above(waiting.length * 0.9); // A slow machine gives a few of them all their tries meanwhile.
  });

  it("is not delayed by ten callbacks whose receivers hang", async function () {
    this.timeout(180_000);
    const waiting = await Promise.all(
      hanging.flatMap(({ url }) => Array.from({ length: 6 }, () => add(null, {}, `${url}/callback`))),
    );
    await eventually(() => hanging.every(({ requests }) => requests.length > 0), "every receiver to be called");

    const rules = await Promise.all(Array.from({ length: 8 }, () => add("sales")));
    const callbacks = await Promise.all(Array.from({ length: 8 }, () => add(null, {}, `${receiver.url}/callback`)));
    await Promise.all([...rules, ...callbacks].map((id) => sent(id, 120_000)));

    for (const { requests } of hanging) {
      expect(requests.filter(({ cancelled }) => !cancelled).length).to.be.at.most(2);
    }
    const open = await app.stores.deliveries.collection.native.countDocuments({ open: true, _id: { $in: waiting } });
    expect(open).to.equal(waiting.length);
  });

  it("is released when the worker stops, and sent by another one", async () => {
    receiver.script(hangs);
    const id = await add("sales");
    await eventually(() => receiver.requests.length > 0, "the request");

    await worker.close();
    worker = await startWorker(app);

    expect(await sent(id)).to.deep.include({ attempts: 1, failures: 0, lastStatus: 204 });
    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).to.deep.equal(Array(2).fill(`evt-${id}`));
  });

  it("is found by the sweep when Redis was emptied", async () => {
    receiver.script(answers(500));
    const id = await add("sales");
    await until(id, ({ failures }) => failures === 1, "to fail once");

    const redis = new Redis(app.redisUrl);
    const keys = await redis.keys(`{${app.prefix}:delivery-webhook}*`);
    if (keys.length > 0) await redis.del(...keys);
    redis.disconnect();

    expect(await sent(id)).to.deep.include({ attempts: 2 });
  });

  it("fails when workers have ended in the middle of each of its tries", async () => {
    const { length } = FAST_TIMINGS.retry.webhookMs;
    const expired = { token: "dead", until: new Date(Date.now() - 1) };
    const id = await add("sales", { failures: length, lease: expired });

    const delivery = await failed(id);

    expect(delivery.reason).to.include("ended during the last attempt");
    expect(receiver.requests).to.deep.equal([]);
  });

  it("fails for good after the last try", async () => {
    receiver.script(...Array(20).fill(answers(500)));
    const { length } = FAST_TIMINGS.retry.webhookMs;
    await worker.close();
    const webhookMs = Array<number>(length).fill(10);
    worker = await startWorker(app, {}, { ...FAST_TIMINGS, retry: { ...FAST_TIMINGS.retry, webhookMs } });
    const id = await add("sales", { failures: length - 1 });

    const delivery = await failed(id);

    expect(receiver.requests).to.have.length(2);
    expect(delivery.reason).to.equal(`The receiver answered 500. It was tried ${length + 1} times.`);
    expect(delivery).to.deep.include({ lastStatus: 500, open: false });
    const line = () => worker.log.find(({ msg }) => msg === "a delivery failed");
    expect(await eventually(line, "the line of the log")).to.include({ rule: "sales", status: 500 });
  });

  it("is retried and cancelled by the API like a reply", async () => {
    receiver.script(answers(410));
    const id = await add("sales");
    await failed(id);

    const retried = await app.call("POST", `/api/deliveries/${id}/retry`);
    expect([retried.status, retried.body.state]).to.deep.equal([202, "pending"]);
    await sent(id);
    expect((await app.call("POST", `/api/deliveries/${id}/retry`)).body.code).to.equal("delivery_state_conflict");

    const hanging = await add("dead");
    await eventually(() => dead.requests.length > 0, "the hanging receiver to be called");
    const cancelled = await app.call("POST", `/api/deliveries/${hanging}/cancel`);
    expect([cancelled.status, cancelled.body.state]).to.deep.equal([200, "failed"]);
    await eventually(() => dead.requests[0]?.cancelled, "the request to be cancelled");
    expect(await app.stores.deliveries.find(hanging)).to.deep.include({ reason: "It was cancelled.", attempts: 0 });
  });
});
