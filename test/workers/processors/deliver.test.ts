import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Redis } from "ioredis";
import pino from "pino";
import type { Channel, OutgoingMessage, SendResult } from "../../../src/channels/channel.ts";
import type { DeliveryDoc, DeliveryPart } from "../../../src/models/deliveries/delivery.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { deliveriesTo, QUEUES, type QueueDef } from "../../../src/shared/queue/definitions.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";
import { ChannelGate } from "../../../src/workers/deliveries/channelGate.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { type DeliverDeps, deliverProcessor } from "../../../src/workers/processors/deliver.ts";
import { type Processor, runWorkers } from "../../../src/workers/run.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { loseWrites, UNCONFIRMED } from "../../support/lostAnswers.ts";
import { redisUrl, useOwnMongod } from "../../support/servers.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

const SENT: SendResult = { kind: "sent", id: "m" };
const said = (kind: "transient" | "authentication" | "gone" | "content" | "refused" | "ambiguous"): SendResult => ({
  ...{ kind, reason: `It was ${kind}.` },
});
const limited = (scope: "channel" | "recipient", retryAfterMs: number): SendResult => ({
  ...{ kind: "rate-limited", scope, retryAfterMs, reason: "Too many." },
});

/** What each kind of result is followed by, whichever channel it comes from. */
/** A limit of a second is still waited for in place; the least pause is a tenth of the service's own. */
const PAUSES = { ...TIMINGS.channel, probePollMs: 20, minLimitMs: 100 };

describe("a delivery", () => {
  useOwnMongod();
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

  type Answer = SendResult | ((message: OutgoingMessage, signal: AbortSignal) => SendResult | Promise<SendResult>);
  /** A worker whose channel answers as scripted, and then takes everything. */
  function start(
    answers: Answer[],
    { idempotentForMs = 0, limit = 1_000, gate = new ChannelGate(PAUSES), style = () => {} } = {},
  ): void {
    const channel: Channel = {
      idempotentForMs,
      get style() {
        style();
        return { dialect: "plain" as const, limit, unit: "utf16" as const };
      },
      async send(message, signal) {
        messages.push(message);
        const answer = answers.shift() ?? SENT;
        return typeof answer === "function" ? answer(message, signal) : answer;
      },
      check: async () => ({ ok: true, detail: "" }),
    };
    const { stores, queues, clock } = app;
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const queue = deliveriesTo("telegram");
    const requeue: DeliverDeps["requeue"] = (deliveryId, occasion, delayMs) =>
      queues.deliver({ deliveryId, channel: "telegram" }, { occasion, delayMs });
    const processor = deliverProcessor(
      { stores, name: "telegram", channel, metrics, requeue, followDeliveries: true },
      gate,
    );
    const idle = QUEUES.map((def): [QueueDef, Processor] => [def, async () => ({ kind: "done" })]);
    workers = runWorkers(new Map([...idle, [queue, processor]]), {
      ...{ connection, clock, log, prefix: app.prefix, timings: FAST_TIMINGS },
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
  const routed = () => eventually(() => app.stores.sessions.route(), "a route");
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
    expect(await routed()).to.deep.equal({ channel: "telegram", to: "anna" });
    expect(delivery).to.include({ text: "Hello there.\n\nHow are you?" });
    expect(delivery.parts.map(({ text, plain }) => text + plain)).to.deep.equal(["", ""]); // one copy is enough
  });

  it("is shown with its run: its tries, its parts, the service's ids, and nothing of what it says", async () => {
    start([{ kind: "sent", id: "m-1" }, said("transient"), { kind: "sent", id: "m-2" }], { limit: 5 });
    const [runId, common] = [randomUUID(), { kind: "agent" as const, name: null, sessionKey: "x", singleUse: false }];
    await app.stores.runs.accept([{ _id: runId, ...common, mapped: null, request: null }]);

    const id = await add("first other", "anna", { runId });
    await until(id, "sent", 20_000);
    const { status, body } = await app.call("GET", `/api/runs/${runId}`);

    expect([status, body.deliveries.length]).to.deep.equal([200, 1]);
    expect(body.deliveries[0]).to.deep.include({
      ...{ deliveryId: id, channel: "telegram", to: "anna", state: "sent", attempts: 2, maybeTwice: false },
      parts: [
        { state: "sent", id: "m-1" },
        { state: "sent", id: "m-2" },
      ],
    });
    expect(JSON.stringify(body.deliveries)).to.not.include("first");
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

    expect(delivery).to.include({ attempts: 1, failures: 0 });
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

  it("is tried again later when it may pass by itself; the failures are counted from the last part that was sent", async () => {
    start([SENT, said("transient")], { limit: 5 });

    const id = await add("first second");
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "the failed try");
    const delivery = await until(id, "sent", 20_000);

    expect(waits).to.include({ attempts: 1, failures: 1, reason: "It was transient." });
    expect(texts()).to.deep.equal(["anna: first", "anna: secon", "anna: secon", "anna: d"]);
    expect(messages[1]?.key).to.equal(messages[2]?.key);
    expect(delivery).to.include({ attempts: 2, failures: 0, maybeTwice: false });
  });

  it("fails after the last try, and the next one to the recipient has its turn", async () => {
    start([said("transient")]);

    const id = await add("a", "anna", { failures: 5 });
    const next = await add("b");
    const delivery = await until(id, "failed");
    await until(next, "sent");

    expect(delivery.reason).to.equal("It was transient. It was tried 6 times.");
    expect(await routed()).to.deep.equal({ channel: "telegram", to: "anna" });
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

  it("is tried at once when it is begun anew while it waits: for credentials that are good by now, and says so", async () => {
    start([said("authentication")]);
    const first = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(first)).notBefore, "it to wait");
    const ids = [first, await add("b", "bert")] as const;
    for (const id of ids) await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait");
    await workers?.close(0);
    start([]); // as it begins with a configuration that was read again

    const retried = await Promise.all(ids.map((id) => app.call("POST", `/api/deliveries/${id}/retry`)));
    const sent = await Promise.all(ids.map((id) => until(id, "sent")));

    expect(retried.map(({ status, body }) => [status, body.notBefore])).to.deep.equal([
      [202, null],
      [202, null],
    ]);
    expect(texts()).to.have.members(["anna: a", "anna: a", "bert: b"]);
    expect(sent.map(({ attempts }) => attempts)).to.deep.equal([2, 1]);
  });

  it("is tried at once when it is begun anew by hand after its credentials were mended at the service; others follow it", async () => {
    start([said("authentication")]);
    const id = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait");

    const { body } = await app.call("POST", `/api/deliveries/${id}/retry`);
    await until(id, "sent");
    await until(await add("b", "bert"), "sent");

    expect(body).to.include({ state: "pending", notBefore: null });
    expect(texts()).to.deep.equal(["anna: a", "anna: a", "bert: b"]);
    expect(await metrics.registry.metrics()).to.match(/^signalbox_channel_stopped\{channel="telegram"\} 0$/m);
  });

  it("obeys a limit of the channel also when it is begun anew by hand", async () => {
    start([limited("channel", 3_600_000)]);
    const id = await add("a");
    const found = () => app.stores.deliveries.find(id);
    const before = await eventually(async () => (await found()).notBefore, "it to wait");

    await app.call("POST", `/api/deliveries/${id}/retry`);
    const after = await eventually(async () => (await found()).notBefore, "it to wait again");

    expect(messages).to.have.length(1);
    expect(Number(after)).to.be.within(Number(before) - 1_000, Number(before) + 60_000);
    expect((await found()).reason).to.equal("Too many.");
  });

  it("that waited for more than a day has another day when it is begun anew by hand", async () => {
    start([limited("recipient", 3_600_000), limited("recipient", 3_600_000)]);
    const id = await add("a");
    const found = () => app.stores.deliveries.find(id);
    await eventually(async () => (await found()).notBefore, "it to wait");
    app.clock.advance(25 * 3_600_000);

    await app.call("POST", `/api/deliveries/${id}/retry`);
    await eventually(async () => messages.length === 2 && (await found()).notBefore, "it to wait again");

    expect(await found()).to.include({ state: "pending", reason: "Too many." });
  });

  it("goes alone after a limit, whoever waits, until one is sent", async () => {
    class Brief extends ChannelGate {
      override limit = (era: number, _toldMs: number | null, reason: string) => super.limit(era, 0, reason);
    }
    let underWay = 0;
    const most: number[] = [];
    const noting = (result: SendResult) => async () => {
      most.push(++underWay);
      await eventually(() => most.length >= 10, "the first ten");
      await new Promise(setImmediate);
      underWay--;
      return result;
    };
    start([...Array(13).fill(noting(limited("channel", 0))), ...Array(15).fill(noting(SENT))], { gate: new Brief() });

    const ids: string[] = [];
    for (let i = 0; i < 15; i++) ids.push(await add("a", `recipient ${i}`));
    for (const id of ids) await until(id, "sent", 20_000);

    expect(most.slice(0, 10), "at once, before anything is known").to.include(10);
    expect(most.slice(10, 14), "three more limits, and the first that is sent").to.deep.equal([1, 1, 1, 1]);
    expect(most).to.have.length(28);
  });

  it("waits longer and longer for a recipient whose limit has no end that the service tells", async () => {
    start(Array<Answer>(3).fill({ kind: "rate-limited", scope: "recipient", retryAfterMs: null, reason: "Too many." }));
    const id = await add("a", "anna", { limits: 2 });
    const found = () => app.stores.deliveries.find(id);

    const began = app.clock.now().getTime();
    const until1 = await eventually(async () => (await found()).notBefore, "it to wait");
    const { limits } = await found();
    await app.call("POST", `/api/deliveries/${id}/retry`);
    const until2 = await eventually(async () => messages.length === 2 && (await found()).notBefore, "it to wait again");

    expect(limits).to.equal(3);
    expect(Number(until1) - began).to.be.at.least(20_000);
    expect(Number(until2) - Number(until1), "begun anew, also in that").to.be.below(5_000);
    expect(await found()).to.include({ limits: 1 });
  });

  it("counts no try while MongoDB is away", async () => {
    start([
      () => {
        throw new AppError("unavailable");
      },
    ]);

    const delivery = await until(await add("a"), "sent");

    expect(delivery).to.include({ failures: 0, attempts: 2 });
    expect(lines.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
  });

  it("whose end MongoDB wrote and could not confirm is over as any other: its recipient is the last, the next one follows", async () => {
    start([]);
    const { deliveries } = app.stores;
    const end = deliveries.end.bind(deliveries);
    deliveries.end = async (...given) => {
      deliveries.end = end;
      await loseWrites(2, UNCONFIRMED); // as the driver sends it twice
      return end(...given);
    };

    const first = await add("first");
    const next = await add("next");
    await until(next, "sent", 4_000); // the sweep would be later
    const route = await app.stores.sessions.route();

    expect(await deliveries.find(first)).to.include({ state: "sent" });
    expect(route).to.deep.equal({ channel: "telegram", to: "anna" });
    expect(await metrics.registry.metrics()).to.match(
      /signalbox_deliveries_total\{channel="telegram",outcome="sent"\} 2/,
    );
  });

  it("that is handed back before it used its leave to try the credentials leaves that to the next", async () => {
    let stopped: Promise<void> | undefined;
    class Late extends ChannelGate {
      override async pass(signal: AbortSignal, askedAt?: Date) {
        const given = await super.pass(signal, askedAt);
        if (!stopped) {
          stopped = workers?.close(0);
          await eventually(() => signal.aborted, "the worker to stop");
        }
        return given;
      }
    }
    const gate = new Late();
    gate.stop(0, 0, "Bad token.", new Date());
    start([], { gate });

    const id = await add("a");
    await eventually(() => stopped !== undefined, "leave to be given");
    await stopped;
    const next = await gate.pass(new AbortController().signal);

    expect(next).to.deep.equal({ kind: "open", era: 1 });
    expect(messages).to.deep.equal([]);
    expect(await app.stores.deliveries.find(id)).to.include({ state: "pending", claim: null });
  });

  it("tells by the metric that the credentials have proved good again", async () => {
    class BriefStop extends ChannelGate {
      override stop = (era: number, _forMs: number, reason: string, at: Date) => super.stop(era, 0, reason, at);
    }
    start([said("authentication"), said("authentication")], { gate: new BriefStop() });
    const stopped = async () =>
      /^signalbox_channel_stopped\{channel="telegram"\} (\d)$/m.exec(await metrics.registry.metrics());
    const id = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait");
    const atFirst = await stopped();

    await app.call("POST", `/api/deliveries/${id}/retry`);
    await eventually(async () => messages.length === 2, "the second try");
    await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait again");
    const still = await stopped();
    await app.call("POST", `/api/deliveries/${id}/retry`);
    await until(id, "sent");

    expect([atFirst?.[1], still?.[1], (await stopped())?.[1]]).to.deep.equal(["1", "1", "0"]);
    expect(
      lines.filter(({ level }) => level === 50),
      "told once",
    ).to.have.length(1);
  });

  it("that waited for a day is given up", async () => {
    start([said("authentication")]);

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });

    expect((await until(id, "failed")).reason).to.equal("It was authentication. It was given up after a day.");
  });

  it("waits the least pause at least, whatever the service says, and is given up after a day of limits too", async () => {
    start(Array<Answer>(20).fill(limited("channel", 0)));

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });
    const began = performance.now();
    const failed = await until(id, "failed", 20_000);

    expect(performance.now() - began).to.be.at.least(5 * PAUSES.minLimitMs - 20);
    expect(messages).to.have.length(6);
    expect(failed.reason).to.equal("Too many. It was given up after a day.");
  });

  it("that shows nothing fails, and is nobody's route", async () => {
    start([]);

    const failed = await until(await add("\u200b"), "failed");

    expect(failed.reason).to.equal("The reply shows nothing.");
    expect([messages, await app.stores.sessions.route()]).to.deep.equal([[], null]);
  });

  it("of more than a hundred messages fails, and nothing of it is sent", async () => {
    start([], { limit: 10 });

    const most = await add(Array.from({ length: 100 }, (_, i) => `word ${i}`).join("\n\n"));
    const over = await add(Array.from({ length: 250 }, (_, i) => `words ${i}`).join("\n\n"), "bert");
    const failed = await until(over, "failed");
    const sent = await until(most, "sent", 20_000);

    expect(failed.reason).to.match(/^The reply would take \d{3} messages, and at most 100 are sent/);
    expect(messages.filter(({ to }) => to === "bert")).to.deep.equal([]);
    expect(sent.parts.length).to.be.within(51, 100);
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

  it("fails with the one before it whose recipient cannot be reached; what goes to others does not", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const first = await add("a");
    await eventually(() => messages.length === 1, "the first to be handed over");
    const waiting = [await add("b"), await add("c")] as const;
    const other = await add("d", "bert");
    await until(other, "sent");
    answer(said("gone"));
    const failed = await Promise.all([first, ...waiting].map((id) => until(id, "failed")));
    const later = await until(await add("e"), "sent");

    expect(failed.map(({ reason }) => reason)).to.deep.equal(Array(3).fill("It was gone."));
    expect(texts()).to.deep.equal(["anna: a", "bert: d", "anna: e"]);
    expect(later.parts).to.have.length(1);
    const counted = /^signalbox_deliveries_total\{channel="telegram",outcome="failed"\} 3$/m;
    expect(await metrics.registry.metrics()).to.match(counted);
  });

  it("that is cancelled is not sent, and the next one to the recipient has its turn", async () => {
    start([limited("recipient", 3_600_000)]);
    const id = await add("a");
    await eventually(async () => (await app.stores.deliveries.find(id)).notBefore, "it to wait");
    const next = await add("b");

    const waiting = await app.call("GET", `/api/deliveries?state=pending`);
    const cancelled = await app.call("POST", `/api/deliveries/${id}/cancel`);
    const sent = await until(next, "sent");
    const again = await app.call("POST", `/api/deliveries/${id}/cancel`);
    const nobody = await app.call("POST", "/api/deliveries/nobody/cancel");
    const over = await app.call("POST", `/api/deliveries/${next}/cancel`);

    const [, shown] = waiting.body.deliveries;
    expect([shown.deliveryId, Date.parse(shown.notBefore) > Date.now()]).to.deep.equal([id, true]);
    expect(cancelled.status).to.equal(200);
    expect(cancelled.body).to.include({ state: "failed", reason: "It was cancelled.", notBefore: null, attempts: 1 });
    expect(sent.attempts).to.equal(1);
    expect([again, over].map(({ status, body }) => [status, body.code])).to.deep.equal(
      Array(2).fill([409, "delivery_state_conflict"]),
    );
    expect(over.body.detail).to.equal("The delivery is over: it is sent.");
    expect([nobody.status, nobody.body.code]).to.deep.equal([404, "delivery_not_found"]);
  });

  it("that is cancelled while a part of it is handed over sends no further part", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))], { limit: 5 });
    const id = await add("first other");
    await eventually(() => messages.length === 1, "the first part to be handed over");

    const cancelled = await app.call("POST", `/api/deliveries/${id}/cancel`);
    answer(SENT);
    await until(await add("next"), "sent");

    expect(cancelled.body.state).to.equal("failed");
    expect(texts()).to.deep.equal(["anna: first", "anna: next"]);
    expect((await app.stores.deliveries.find(id)).reason).to.equal("It was cancelled.");
  });

  it("that is cancelled while its last part is handed over stays cancelled, and is nobody's route", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);
    const id = await add("a");
    await eventually(() => messages.length === 1, "the part to be handed over");

    await app.call("POST", `/api/deliveries/${id}/cancel`);
    answer(SENT);
    await eventually(() => lines.some(({ msg }) => msg === "job done"), "the try to be over");

    expect(await app.stores.deliveries.find(id)).to.include({ state: "failed", reason: "It was cancelled." });
    expect(await app.stores.sessions.route()).to.equal(null);
    expect(await metrics.registry.metrics()).to.not.match(/^signalbox_deliveries_total\{/m);
  });

  it("of which nothing was sent is cut anew when it is begun anew, and sent once however many do so at the same time", async () => {
    start([said("gone")], { limit: 5 });
    const id = await add("first other");
    const failed = await until(id, "failed");
    await workers?.close(0);
    start([], { limit: 100 });

    const retries = await Promise.all(Array.from({ length: 5 }, () => app.call("POST", `/api/deliveries/${id}/retry`)));
    const sent = await until(id, "sent");

    expect(failed.parts).to.have.length(2);
    expect(retries.map(({ status }) => status)).to.include(202);
    expect(retries.filter(({ status, body }) => status !== 202 && body.code !== "delivery_state_conflict")).to.be.empty;
    expect(texts()).to.deep.equal(["anna: first", "anna: first other"]);
    expect(sent.attempts).to.equal(2);
  });

  it("keeps what was sent of it, however many begin it anew, one of them slowly", async () => {
    start([said("gone"), SENT, said("gone")], { limit: 5 });
    const id = await add("first other");
    await until(id, "failed");
    const { deliveries } = app.stores;
    const find = deliveries.find.bind(deliveries);
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    deliveries.find = async (deliveryId) => {
      const found = await find(deliveryId);
      deliveries.find = find;
      await held;
      return found;
    };

    const slow = deliveries.retry(id, "anna");
    await eventually(() => deliveries.find === find, "the slow one to have read it");
    await app.call("POST", `/api/deliveries/${id}/retry`);
    await eventually(() => messages.length === 3, "two more parts to be handed over");
    await until(id, "failed");
    release();
    await slow;
    await app.queues.deliver({ deliveryId: id, channel: "telegram" }, { occasion: "slow" });
    await until(id, "sent");

    expect(texts()).to.deep.equal(["anna: first", "anna: first", "anna: other", "anna: other"]);
  });

  it("that is being sent cannot be begun anew, and says so", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);
    const id = await add("a");
    await eventually(() => messages.length === 1, "it to be handed over");

    const underWay = await app.call("POST", `/api/deliveries/${id}/retry`);
    answer(SENT);
    await until(id, "sent");
    const sent = await app.call("POST", `/api/deliveries/${id}/retry`);

    expect([underWay, sent].map(({ status, body }) => [status, body.detail])).to.deep.equal([
      [409, "The delivery is being sent in this moment."],
      [409, "The delivery has been sent already."],
    ]);
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

  it("fails alone when a filter refuses it, without another try as plain text; what waits behind it is sent", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const bad = await add("a bad word");
    await eventually(() => messages.length === 1, "the first to be handed over");
    const waiting = [await add("b"), await add("c")] as const;
    answer(said("refused"));
    const failed = await until(bad, "failed");
    for (const id of waiting) await until(id, "sent");

    expect([failed.reason, failed.attempts]).to.deep.equal(["It was refused.", 1]);
    expect(texts()).to.deep.equal(["anna: a bad word", "anna: b", "anna: c"]);
  });

  for (const [idempotentForMs, words] of [
    [60_000, "the service knows it"],
    [100, "the service has forgotten it by then, and it says so"],
    [0, "it says so"],
  ] as const) {
    it(`that may have been sent is sent again under its key; ${words}`, async () => {
      start([said("ambiguous")], { idempotentForMs });

      const id = await add("a");
      const delivery = await until(id, "sent", 20_000);

      expect(messages).to.have.length(2);
      expect(messages[0]).to.deep.equal(messages[1]);
      expect(delivery.maybeTwice).to.equal(idempotentForMs < 200);
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

  const DEAD = "The worker that was at it ended in the middle of a try.";
  const handed = (text: string, handedAt = new Date()): DeliveryPart => ({
    ...{ text, plain: text, state: "sending", asPlain: false, id: null, handedAt },
  });
  const deaths: [string, Partial<DeliveryDoc>, number, string][] = [
    ["in each of its tries", { failures: 5 }, 0, `${DEAD} It was tried 6 times.`],
    [
      "in each of them, with a part handed over",
      { failures: 5, parts: [handed("x")] },
      60_000,
      `${DEAD} It was tried 6 times, and may have arrived.`,
    ],
    [
      "twice with a part handed over that no key tells",
      { failures: 1, maybeTwice: true, parts: [handed("x")] },
      0,
      `${DEAD} It was tried 2 times, and may have arrived.`,
    ],
  ];
  for (const [title, given, idempotentForMs, reason] of deaths) {
    it(`fails when its worker died ${title}, and the next one to the recipient has its turn`, async () => {
      start([], { idempotentForMs });

      const failed = await until(
        await add("x", "anna", { ...given, claim: { token: "dead", until: new Date(0) } }),
        "failed",
      );
      await until(await add("next"), "sent");

      expect(failed.reason).to.equal(reason);
      expect(texts()).to.deep.equal(["anna: next"]);
    });
  }

  it("counts a worker that died as a try that failed, until something is sent", async () => {
    let answer: (result: SendResult) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const id = await add("a", "anna", { failures: 2, claim: { token: "dead", until: new Date(0) } });
    await eventually(() => messages.length === 1, "the part to be handed over");
    const { failures } = await app.stores.deliveries.find(id);
    answer(SENT);

    expect(failures).to.equal(3);
    expect(await until(id, "sent")).to.include({ failures: 0, maybeTwice: false });
  });

  it("whose try breaks off for a fault of ours is tried again later, then fails and lets the next one pass; the log says where, and nothing of the message", async () => {
    const throws = (): never => {
      throw new TypeError("cannot read s3cret of undefined");
    };
    start([throws]);

    const id = await add("the s3cret", "anna", { failures: 4 });
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "it to wait");
    const next = await add("b");
    await app.stores.deliveries.collection.updateOne({ _id: id }, { $set: { failures: 5, notBefore: null } });
    await workers?.close(0);
    start([throws]);
    await app.queues.deliver({ deliveryId: id, channel: "telegram" }, { occasion: "now" });
    const failed = await until(id, "failed");
    await until(next, "sent");

    const reason = "The try broke off for a fault of this service: see the worker's log.";
    expect(waits).to.include({ reason, failures: 5, claim: null });
    expect(failed.reason).to.equal(`${reason} It was tried 6 times, and may have arrived.`);
    const faults = lines.filter(({ level }) => level === 50);
    expect(faults.map(({ deliveryId, type }) => [deliveryId, type])).to.deep.equal(Array(2).fill([id, "TypeError"]));
    expect(JSON.stringify(faults)).to.include("deliver.test.ts").and.not.include("s3cret");
  });

  it("that cannot even be cut is tried again later, and nothing of it may have arrived", async () => {
    start([], {
      style: () => {
        throw new RangeError("a fault of ours");
      },
    });

    const failed = await until(await add("a", "anna", { failures: 5 }), "failed");

    expect(failed.reason).to.match(/It was tried 6 times\.$/);
    expect(messages).to.deep.equal([]);
  });

  const unclear: [string, Answer][] = [
    ["whose service answers badly", said("ambiguous")],
    [
      "whose tries break off for a fault of ours",
      () => {
        throw new Error("a fault of ours");
      },
    ],
  ];
  for (const [title, answer] of unclear) {
    it(`${title} is not sent a third time where the service has no key to tell`, async () => {
      start([answer, answer]);

      const failed = await until(await add("a"), "failed", 20_000);
      await until(await add("b"), "sent");

      expect(texts()).to.deep.equal(["anna: a", "anna: a", "anna: b"]);
      expect(failed).to.include({ maybeTwice: true });
      expect(failed.reason).to.match(/\. It was tried 2 times, and may have arrived\.$/);
    });
  }

  it("that may have been sent is tried to the end under a key that the service still knows", async () => {
    start([said("ambiguous")], { idempotentForMs: 3_600_000 });

    const id = await add("a", "anna", { failures: 3, parts: [handed("a")] });
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "it to wait");

    expect(waits).to.include({ state: "pending", failures: 4, maybeTwice: false });
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
    const begun = Promise.withResolvers<void>();
    start([
      (_message, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(said("transient")));
          begun.resolve();
        }),
    ]);

    const id = await add("a");
    await begun.promise;
    await workers?.close(0);
    const left = await app.stores.deliveries.find(id);
    start([]);
    await until(id, "sent");

    expect(left).to.include({ state: "pending", attempts: 1, failures: 0, claim: null });
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
