import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Redis } from "ioredis";
import pino from "pino";
import type { Channel, OutgoingMessage, SendResult } from "../../src/channels/channel.ts";
import type { DeliveryDoc, DeliveryPart } from "../../src/models/delivery.ts";
import { deliveriesTo, QUEUES, type QueueDef } from "../../src/shared/queues.ts";
import { WorkerMetrics } from "../../src/workers/metrics.ts";
import { deliverProcessor } from "../../src/workers/processors/deliver.ts";
import { type Processor, runWorkers } from "../../src/workers/run.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { redisUrl } from "../support/servers.ts";

const SENT: SendResult = { kind: "sent", id: "m" };
const said = (kind: "transient" | "authentication" | "gone" | "content" | "ambiguous"): SendResult => ({
  ...{ kind, reason: `It was ${kind}.` },
});
const limited = (scope: "channel" | "recipient", retryAfterMs: number): SendResult => ({
  ...{ kind: "rate-limited", scope, retryAfterMs, reason: "Too many." },
});

/** What each kind of result is followed by, whichever channel it comes from. */
describe("a delivery", () => {
  let app: TestApp;
  let connection: Redis;
  let workers: { close(graceMs?: number): Promise<void> } | undefined;
  let metrics: WorkerMetrics;
  let messages: OutgoingMessage[];
  let lines: Record<string, unknown>[];
  beforeEach(async () => {
    app = await startApp({ config: `{ channels: { telegram: { botToken: "t" } } }` });
    connection = new Redis(await redisUrl(), { maxRetriesPerRequest: null });
    metrics = new WorkerMetrics();
    messages = [];
    lines = [];
  });
  afterEach(async () => {
    await workers?.close(0);
    workers = undefined;
    connection.disconnect();
    await app.close();
  });

  type Answer = SendResult | ((message: OutgoingMessage) => SendResult | Promise<SendResult>);
  /** A worker whose channel answers as scripted, and then takes everything. */
  function start(answers: Answer[], { idempotentForMs = 0, limit = 1_000 } = {}): void {
    const channel: Channel = {
      ...{ idempotentForMs, style: { dialect: "plain", limit, unit: "utf16" } },
      async send(message) {
        messages.push(message);
        const answer = answers.shift() ?? SENT;
        return typeof answer === "function" ? answer(message) : answer;
      },
      check: async () => ({ ok: true, detail: "" }),
    };
    const { stores, queues, clock } = app;
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const queue = deliveriesTo("telegram");
    const processor = deliverProcessor({
      ...{ stores, name: "telegram", channel, metrics },
      requeue: (deliveryId, occasion, delayMs) =>
        queues.add(queue, { deliveryId }, { jobId: `${deliveryId}-${occasion}`, delayMs }),
    });
    const idle = QUEUES.map((def): [QueueDef, Processor] => [def, async () => ({ kind: "done" })]);
    workers = runWorkers(new Map([...idle, [queue, processor]]), {
      ...{ connection, clock, log, prefix: app.prefix },
      concurrency: { [queue.name]: 10 },
    });
  }
  async function add(text: string, to = "anna", given: Partial<DeliveryDoc> = {}): Promise<string> {
    const _id = randomUUID();
    await app.stores.deliveries.add({ _id, runId: null, channel: "telegram", to, text, fault: null });
    await app.stores.deliveries.collection.updateOne({ _id }, { $set: { reason: null, ...given } });
    await app.queues.deliver({ deliveryId: _id, channel: "telegram" });
    return _id;
  }
  const until = (id: string, state: DeliveryDoc["state"], withinMs?: number) =>
    eventually(
      async () => {
        const delivery = await app.stores.deliveries.find(id);
        return delivery.state === state && delivery;
      },
      `the delivery to be ${state}`,
      withinMs,
    );
  const texts = () => messages.map(({ to, text }) => `${to}: ${text}`);

  it("is sent part by part, in order, each under a key of its own; then its recipient is the main session's last", async () => {
    start(
      [
        { kind: "sent", id: "1" },
        { kind: "sent", id: "2" },
      ],
      { limit: 12 },
    );

    const id = await add("Hello there.\n\nHow are you?");
    const delivery = await until(id, "sent");

    expect(texts()).to.deep.equal(["anna: Hello there.", "anna: How are you?"]);
    expect(new Set(messages.map(({ key }) => key)).size).to.equal(2);
    expect(delivery.parts.map(({ state, id }) => [state, id])).to.deep.equal([
      ["sent", "1"],
      ["sent", "2"],
    ]);
    expect(await app.stores.sessions.route()).to.deep.equal({ channel: "telegram", to: "anna" });
  });

  it("waits as long as the service says, which counts as no try, and nothing else goes to the channel meanwhile", async () => {
    const times: number[] = [];
    const timed = (result: SendResult) => () => {
      times.push(performance.now());
      return result;
    };
    start([timed(limited("channel", 1_000)), timed(SENT), timed(SENT)]);

    const first = await add("a");
    await eventually(() => messages.length === 1, "the first try");
    const second = await add("b", "bert");
    const delivery = await until(first, "sent");
    await until(second, "sent");

    expect(delivery.attempts).to.equal(0);
    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.at.least(990);
    expect((times[2] ?? 0) - (times[0] ?? 0)).to.be.at.least(990);
  });

  it("to another recipient goes on while one recipient wants no more", async () => {
    start([limited("recipient", 3_600_000)]);

    const first = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(first)).notBefore, "it to wait");
    const behind = await add("b");
    const other = await add("c", "bert");
    await until(other, "sent");

    expect(texts()).to.deep.equal(["anna: a", "bert: c"]);
    expect(await app.stores.deliveries.find(behind)).to.include({ state: "pending" });
  });

  it("is tried again later when it may pass by itself; the tries are counted from the last part that was sent", async () => {
    start([SENT, said("transient")], { limit: 5 });

    const id = await add("first second");
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "the failed try");
    const delivery = await until(id, "sent", 20_000);

    expect(waits).to.include({ attempts: 1, reason: "It was transient." });
    expect(texts()).to.deep.equal(["anna: first", "anna: secon", "anna: secon", "anna: d"]);
    expect(messages[1]?.key).to.equal(messages[2]?.key);
    expect(delivery).to.include({ attempts: 0, maybeTwice: false });
  });

  it("fails after the last try, and the next one to the recipient has its turn", async () => {
    start([said("transient")]);

    const id = await add("a", "anna", { attempts: 5 });
    const next = await add("b");
    const delivery = await until(id, "failed");
    await until(next, "sent");

    expect(delivery.reason).to.equal("It was transient. It was tried 6 times.");
    expect(await app.stores.sessions.route()).to.deep.equal({ channel: "telegram", to: "anna" });
  });

  it("stops the channel when the credentials are not good: a line at level error, a metric, and no further try", async () => {
    start([said("authentication")]);

    const id = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait");
    const other = await add("b", "bert");
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(other);
      return found.notBefore && found;
    }, "the other to wait");

    expect(messages).to.have.length(1);
    expect(waits).to.include({ state: "pending", attempts: 0 });
    expect(await metrics.registry.metrics()).to.match(/^signalbox_channel_stopped\{channel="telegram"\} 1$/m);
    const [line] = lines.filter(({ level }) => level === 50);
    expect(line).to.include({ channel: "telegram", reason: "It was authentication." });
  });

  it("that waited for a day is given up", async () => {
    start([said("authentication")]);

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });

    expect((await until(id, "failed")).reason).to.equal("It was authentication. It was given up after a day.");
  });

  it("waits a second at least, whatever the service says, and is given up after a day of limits too", async () => {
    start(Array<Answer>(20).fill(limited("channel", 0)));

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });
    const began = performance.now();
    const failed = await until(id, "failed", 20_000);

    expect(performance.now() - began).to.be.at.least(4_900);
    expect(messages).to.have.length(6);
    expect(failed.reason).to.equal("Too many. It was given up after a day.");
  });

  it("that shows nothing fails, and is nobody's route", async () => {
    start([]);

    const failed = await until(await add("\u200b"), "failed");

    expect(failed.reason).to.equal("The reply shows nothing.");
    expect([messages, await app.stores.sessions.route()]).to.deep.equal([[], null]);
  });

  it("that is too large for its record fails, and holds up nobody behind it", async () => {
    start([], { limit: 1_000_000 });

    const id = await add("ж".repeat(4_100_000));
    const next = await add("b");
    const failed = await until(id, "failed");
    await until(next, "sent");

    expect(failed.reason).to.equal("The reply is too large to be delivered.");
  });

  it("that is begun anew goes behind those that wait for the recipient", async () => {
    start([said("gone"), () => new Promise((resolve) => setImmediate(() => resolve(SENT)))]);
    const failed = await add("old");
    await until(failed, "failed");
    await workers?.close(0);

    const ids = [await add("one"), await add("two")];
    await app.call("POST", `/api/deliveries/${failed}/retry`);
    start([]);
    for (const id of [...ids, failed]) await until(id, "sent");

    expect(texts().slice(1)).to.deep.equal(["anna: one", "anna: two", "anna: old"]);
  });

  it("fails at once when the recipient cannot be reached; it can be begun anew without what was sent", async () => {
    start([SENT, said("gone")], { limit: 5 });

    const id = await add("first other");
    const failed = await until(id, "failed");
    const { status, body } = await app.call("POST", `/api/deliveries/${id}/retry`);
    const sent = await until(id, "sent");
    const again = await app.call("POST", `/api/deliveries/${id}/retry`);

    expect(failed.reason).to.equal("It was gone.");
    expect([status, body.state]).to.deep.equal([202, "pending"]);
    expect(texts()).to.deep.equal(["anna: first", "anna: other", "anna: other"]);
    expect(sent.reason).to.equal(null);
    expect([again.status, again.body.code]).to.deep.equal([409, "delivery_state_conflict"]);
  });

  it("is sent as plain text when the service does not take the formatting, and fails when it takes neither", async () => {
    start([said("content"), SENT, said("content"), said("content")]);

    const taken = await add("a");
    await until(taken, "sent");
    const refused = await add("b");
    const failed = await until(refused, "failed");

    expect(messages.map(({ plain }) => plain)).to.deep.equal([false, true, false, true]);
    expect(failed.reason).to.equal("It was content.");
  });

  for (const [idempotentForMs, words] of [
    [60_000, "the service knows it"],
    [1_000, "the service has forgotten it by then, and it says so"],
    [0, "it says so"],
  ] as const) {
    it(`that may have been sent is sent again under its key; ${words}`, async () => {
      start([said("ambiguous")], { idempotentForMs });

      const id = await add("a");
      const delivery = await until(id, "sent", 20_000);

      expect(messages).to.have.length(2);
      expect(messages[0]).to.deep.equal(messages[1]);
      expect(delivery.maybeTwice).to.equal(idempotentForMs < 2_000);
    });
  }

  it("goes on at the first part that is not known to be sent, when its worker died", async () => {
    start([]);
    const part = (text: string, state: DeliveryPart["state"]): DeliveryPart => ({
      ...{ text, plain: text, state, asPlain: false, id: null, handedAt: state === "sending" ? new Date() : null },
    });

    const parts = [part("one", "sent"), part("two", "sending"), part("three", "pending")];
    const claim = { token: "dead", until: new Date(0) };
    const delivery = await until(await add("whatever", "anna", { parts, claim }), "sent");

    expect(texts()).to.deep.equal(["anna: two", "anna: three"]);
    expect(delivery.maybeTwice).to.equal(true);
  });

  it("to one recipient goes when the one before has ended; recipients go side by side", async () => {
    let underWay = 0;
    const most = new Map<string, number>();
    const slow = async ({ to }: OutgoingMessage): Promise<SendResult> => {
      underWay++;
      most.set(to, Math.max(most.get(to) ?? 0, ++active[to]!));
      await eventually(() => underWay >= 3 || messages.length > 3, "others to be under way");
      active[to]!--;
      return SENT;
    };
    const active: Record<string, number> = { anna: 0, bert: 0, cleo: 0 };
    start(Array<Answer>(12).fill(slow));

    const ids: string[] = [];
    for (let i = 0; i < 4; i++) for (const to of Object.keys(active)) ids.push(await add(`${i}`, to));
    for (const id of ids) await until(id, "sent");

    expect([...most.values()]).to.deep.equal([1, 1, 1]);
    for (const name of Object.keys(active)) {
      const sent = messages.filter(({ to }) => to === name).map(({ text }) => text);
      expect(sent).to.deep.equal(["0", "1", "2", "3"]);
    }
  });

  it("that is handed back by a worker that stops is carried on by the next one", async () => {
    let asked: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => {
      asked = resolve;
    });
    start([
      (_message) =>
        new Promise((resolve) => {
          asked?.();
          void workersClosed.then(() => resolve(said("transient")));
        }),
    ]);
    let closed: () => void = () => {};
    const workersClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });

    const id = await add("a");
    await begun;
    const closing = workers?.close(0);
    closed();
    await closing;
    const left = await app.stores.deliveries.find(id);
    start([]);
    await until(id, "sent");

    expect(left).to.include({ state: "pending", attempts: 0, claim: null });
  });
});

describe("GET /api/deliveries", () => {
  it("lists them newest first, by state and channel, page by page, without their text", async () => {
    const app = await startApp({ config: `{ channels: { log: {} } }` });
    const { deliveries } = app.stores;
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    const fault = "No recipient is known.";
    for (const [i, _id] of ids.entries()) {
      app.clock.advance(1_000);
      const channel = i === 2 ? "telegram" : "log";
      await deliveries.add({
        _id,
        runId: null,
        channel,
        to: i === 0 ? "x" : null,
        text: "s3cret",
        fault: i === 0 ? null : fault,
      });
    }
    const list = async (query: string) => (await app.call("GET", `/api/deliveries?${query}`)).body;
    const idsOf = (body: { deliveries: { deliveryId: string }[] }) => body.deliveries.map((one) => one.deliveryId);

    const failed = await list("state=failed");
    const first = await list("limit=2");
    const second = await list(`limit=2&cursor=${encodeURIComponent(first.nextCursor)}`);
    const retried = await app.call("POST", `/api/deliveries/${ids[1]}/retry`);
    const nobody = await app.call("POST", "/api/deliveries/nobody/retry");

    expect(idsOf(failed)).to.deep.equal([ids[2], ids[1]]);
    expect(failed.deliveries[1]).to.deep.include({ channel: "log", state: "failed", reason: fault, parts: [] });
    expect([idsOf(first), idsOf(second), second.nextCursor]).to.deep.equal([[ids[2], ids[1]], [ids[0]], null]);
    expect(idsOf(await list("channel=telegram"))).to.deep.equal([ids[2]]);
    expect(JSON.stringify(first)).to.not.include("s3cret");
    expect([retried.status, retried.body.code]).to.deep.equal([409, "delivery_state_conflict"]);
    expect(retried.body.detail).to.match(/^No recipient is known/);
    expect([nobody.status, nobody.body.code]).to.deep.equal([404, "delivery_not_found"]);
    await app.close();
  });
});
