import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { DeliveryDoc } from "../../../../src/models/deliveries/delivery.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { answers, type ChannelServer, hangs, startChannelServer } from "../../../support/servers/channelServer.ts";
import { FAST_TIMINGS } from "../../../support/timings.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const PATH_SECRET = "k3y-in-the-path";

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
      ...{ id, on: ["job.failed"], to: { webhook: { url, secret: SECRET, ...more } } },
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
      ...{ _id: id, runId: null, kind: "webhook", channel: "webhook", text: "", fault: null },
      ...{ to: rule ?? URL.parse(url ?? "")?.host ?? null },
      ...{
        event: { id: `evt-${id}`, type: "job.failed", rule },
        webhook: { body, contentType: "application/json", url },
      },
    });
    await app.stores.deliveries.collection.updateOne({ _id: id }, { $set: { reason: null, ...given } });
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

  it("fails for good after the last try", async () => {
    receiver.script(...Array(20).fill(answers(500)));
    const { length } = FAST_TIMINGS.retry.webhookMs;
    const id = await add("sales", { failures: length - 1 });

    const delivery = await failed(id);

    expect(receiver.requests).to.have.length(2);
    expect(delivery.reason).to.equal(`The receiver answered 500. It was tried ${length + 1} times.`);
    expect(delivery).to.deep.include({ lastStatus: 500, open: false });
    expect(worker.log.find(({ msg }) => msg === "a delivery failed")).to.include({ rule: "sales", status: 500 });
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
