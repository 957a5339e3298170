import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { OutgoingMessage, SendOutcome } from "../../../../src/channels/channel.ts";
import type { DeliveryDoc, DeliveryPart } from "../../../../src/models/deliveries/delivery.ts";
import { AppError } from "../../../../src/shared/errors.ts";
import { ChannelLimiter } from "../../../../src/workers/deliveries/channelLimiter.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { failWrites, UNCONFIRMED } from "../../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../../support/servers/servers.ts";
import {
  type Answer,
  type Deliveries,
  limited,
  PAUSES,
  resultOf,
  SENT,
  useDeliveries,
} from "../../../workers/processors/useDeliveries.ts";

describe("a delivery", () => {
  useOwnMongod();
  let app: TestApp;
  let messages: Deliveries["messages"];
  let lines: Deliveries["lines"];
  const { start, stop, add, addWaiting, until, counted, telegram, texts } = useDeliveries((started) => {
    ({ app, messages, lines } = started);
  });

  it("waits as long as the service asks for, which counts as no failure, and nothing else is sent to the channel meanwhile", async () => {
    const times: number[] = [];
    const timed = (result: SendOutcome) => () => {
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

  it("shows a stopped channel as ready once a delivery was sent, also to those that still wait, and after a restart of the worker", async () => {
    start([resultOf("authentication")]);
    const ids = [await addWaiting("a"), await addWaiting("b", "bert")] as const;
    const stopped = await telegram();
    await app.call("POST", `/api/deliveries/${ids[0]}/retry`);
    await until(ids[0], "sent");
    const ready = await telegram();
    const waits = await app.stores.deliveries.find(ids[1]);
    const kept = { since: app.clock.now(), reason: "It was refused before." };
    await stop();
    const third = await add("c", "cleo", { channelStop: kept });
    await app.stores.deliveries.collection.native.updateOne({ _id: ids[1] }, { $set: { channelStop: kept } });
    const again = await telegram();
    start([]);
    await until(third, "sent");

    expect(stopped).to.include({ state: "stopped" });
    expect(waits).to.include({ state: "pending" }).and.not.have.property("channelStop");
    expect(ready).to.include({ state: "ready", stoppedSince: null, reason: null, nextTryAt: null });
    expect(again).to.include({ state: "stopped", reason: kept.reason });
    expect(await telegram()).to.include({ state: "ready", reason: null, pending: 1 });
  });

  it("is sent alone after a limit of the channel, however many wait, until one was sent", async () => {
    class Brief extends ChannelLimiter {
      override limit = (epoch: number, _retryAfterMs: number | null, reason: string) => super.limit(epoch, 0, reason);
    }
    let inFlight = 0;
    const most: number[] = [];
    const noting = (result: SendOutcome) => async () => {
      most.push(++inFlight);
      await eventually(() => most.length >= 10, "the first ten");
      await new Promise(setImmediate);
      inFlight--;
      return result;
    };
    start([...Array(13).fill(noting(limited("channel", 0))), ...Array(15).fill(noting(SENT))], {
      limiter: new Brief(),
    });

    const ids: string[] = [];
    for (let i = 0; i < 15; i++) ids.push(await add("a", `recipient ${i}`));
    for (const id of ids) await until(id, "sent");

    expect(most.slice(0, 10), "concurrent before the first result").to.include(10);
    expect(most.slice(10, 14), "three more limits, and the first that is sent").to.deep.equal([1, 1, 1, 1]);
    expect(most).to.have.length(28);
  });

  it("counts no attempt while MongoDB is down", async () => {
    start([
      () => {
        throw new AppError("unavailable");
      },
    ]);

    const delivery = await until(await add("a"), "sent");

    expect(delivery).to.include({ failures: 0, attempts: 2 });
    expect(lines.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
  });

  it("has ended when MongoDB stored its end without confirming it: its recipient is the reply target, the next one follows", async () => {
    start([]);
    const { deliveries } = app.stores;
    const end = deliveries.end.bind(deliveries);
    deliveries.end = async (...given) => {
      deliveries.end = end;
      await failWrites(2, UNCONFIRMED); // as the driver sends it twice
      return end(...given);
    };

    const first = await add("first");
    const next = await add("next");
    await until(next, "sent"); // No sweep runs here: only the end of the first enqueues it.
    const route = await app.stores.sessions.replyTarget();

    expect(await deliveries.find(first)).to.include({ state: "sent" });
    expect(route).to.deep.equal({ channel: "telegram", to: "anna" });
    await counted(/signalbox_deliveries_total\{channel="telegram",outcome="sent"\} 2/);
  });

  it("waits for the minimum time even when the service asks for less, and fails after a day of limits", async () => {
    start(Array<Answer>(20).fill(limited("channel", 0)));

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });
    const began = performance.now();
    const failed = await until(id, "failed");

    expect(performance.now() - began).to.be.at.least(5 * PAUSES.minLimitMs - 20);
    expect(messages).to.have.length(6);
    expect(failed.reason).to.equal("Too many. It was given up after a day.");
  });

  it("fails when it needs more than a hundred messages, and nothing of it is sent", async () => {
    start([], { limit: 10 });

    const most = await add(Array.from({ length: 100 }, (_, i) => `word ${i}`).join("\n\n"));
    const over = await add(Array.from({ length: 250 }, (_, i) => `words ${i}`).join("\n\n"), "bert");
    const failed = await until(over, "failed");
    const sent = await until(most, "sent");

    expect(failed.reason).to.match(/^The reply would take \d{3} messages, and at most 100 are sent/);
    expect(messages.filter(({ to }) => to === "bert")).to.deep.equal([]);
    expect(sent.parts.length).to.be.within(51, 100);
  });

  it("fails when it is too large for its record, and does not block the next one", async () => {
    start([], { limit: 1_000_000 });

    const id = await add("ж".repeat(4_100_000));
    const next = await add("b");
    const failed = await until(id, "failed");
    await until(next, "sent");

    expect(failed.reason).to.equal("The reply is too large to be delivered.");
  });

  it("keeps its sent parts when several retries overlap, one of them slow", async () => {
    start([resultOf("gone"), SENT, resultOf("gone")], { limit: 5 });
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
    await eventually(() => messages.length === 3, "two more parts to be sent");
    await until(id, "failed");
    release();
    await slow;
    await app.queues.deliver({ deliveryId: id, channel: "telegram" }, { occasion: "slow" });
    await until(id, "sent");

    expect(texts()).to.deep.equal(["anna: first", "anna: first", "anna: other", "anna: other"]);
  });

  for (const [idempotentForMs, words] of [
    [60_000, "the service recognizes it"],
    [100, "maybeTwice is set when the service no longer recognizes it"],
    [0, "maybeTwice is set when the service has no keys"],
  ] as const) {
    it(`is sent again with the same key when it may have been sent; ${words} (${idempotentForMs} ms)`, async () => {
      start([resultOf("ambiguous")], { idempotentForMs });

      const id = await add("a");
      const delivery = await until(id, "sent");

      expect(messages).to.have.length(2);
      expect(messages[0]).to.deep.equal(messages[1]);
      expect(delivery.maybeTwice).to.equal(idempotentForMs < 200);
    });
  }

  const DEAD = "The worker ended during an attempt.";
  const handed = (text: string, handedAt = new Date()): DeliveryPart => ({
    text,
    plain: text,
    state: "sending",
    asPlain: false,
    id: null,
    handedAt,
  });
  const deaths: [string, Partial<DeliveryDoc>, number, string][] = [
    ["in each of its attempts", { failures: 5 }, 0, `${DEAD} It was tried 6 times.`],
    [
      "in each of its attempts, the last time while a part was being sent",
      { failures: 5, parts: [handed("x")] },
      60_000,
      `${DEAD} It was tried 6 times, and may have arrived.`,
    ],
    [
      "twice while a part without an idempotency key was being sent",
      { failures: 1, maybeTwice: true, parts: [handed("x")] },
      0,
      `${DEAD} It was tried 2 times, and may have arrived.`,
    ],
  ];
  for (const [title, given, idempotentForMs, reason] of deaths) {
    it(`fails when its worker died ${title}, and the next one to the recipient is sent`, async () => {
      start([], { idempotentForMs });

      const failed = await until(
        await add("x", "anna", { ...given, lease: { token: "dead", until: new Date(0) } }),
        "failed",
      );
      await until(await add("next"), "sent");

      expect(failed.reason).to.equal(reason);
      expect(texts()).to.deep.equal(["anna: next"]);
    });
  }

  it("is tried again after an internal error, then fails without blocking the next one; the log has the stack without the text", async () => {
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
    await app.stores.deliveries.collection.native.updateOne({ _id: id }, { $set: { failures: 5, notBefore: null } });
    await stop();
    start([throws]);
    await app.queues.deliver({ deliveryId: id, channel: "telegram" }, { occasion: "now" });
    const failed = await until(id, "failed");
    await until(next, "sent");

    const reason = "The attempt failed because of an internal error: see the worker's log.";
    expect(waits).to.include({ reason, failures: 5, lease: null });
    expect(failed.reason).to.equal(`${reason} It was tried 6 times, and may have arrived.`);
    const faults = lines.filter(({ level }) => level === 50);
    expect(faults.map(({ deliveryId, type }) => [deliveryId, type])).to.deep.equal(Array(2).fill([id, "TypeError"]));
    expect(JSON.stringify(faults)).to.include("deliver.test.ts").and.not.include("s3cret");
  });

  it("is tried again after an error in splitting it, and is not reported as possibly sent", async () => {
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
    ["with ambiguous results", resultOf("ambiguous")],
    [
      "with internal errors",
      () => {
        throw new Error("a fault of ours");
      },
    ],
  ];
  for (const [title, answer] of unclear) {
    it(`${title} is not sent a third time when the service has no idempotency keys`, async () => {
      start([answer, answer]);

      const failed = await until(await add("a"), "failed");
      await until(await add("b"), "sent");

      expect(texts()).to.deep.equal(["anna: a", "anna: a", "anna: b"]);
      expect(failed).to.include({ maybeTwice: true });
      expect(failed.reason).to.match(/\. It was tried 2 times, and may have arrived\.$/);
    });
  }

  it("is tried until the last attempt while the service recognizes its key", async () => {
    start([resultOf("ambiguous")], { idempotentForMs: 3_600_000 });

    const id = await add("a", "anna", { failures: 3, parts: [handed("a")] });
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "it to wait");

    expect(waits).to.include({ state: "pending", failures: 4, maybeTwice: false });
  });

  it("waits until the previous one to its recipient has ended; different recipients are served concurrently", async () => {
    let inFlight = 0;
    const most = new Map<string, number>();
    const slow = async ({ to }: OutgoingMessage): Promise<SendOutcome> => {
      inFlight++;
      most.set(to, Math.max(most.get(to) ?? 0, ++active[to]!));
      await eventually(() => inFlight >= 3 || messages.length > 3, "others to be in flight");
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

  it("is continued by the next worker when its own stops", async () => {
    const begun = Promise.withResolvers<void>();
    start([
      (_message, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(resultOf("transient")));
          begun.resolve();
        }),
    ]);

    const id = await add("a");
    await begun.promise;
    await stop();
    const left = await app.stores.deliveries.find(id);
    start([]);
    await until(id, "sent");

    expect(left).to.include({ state: "pending", attempts: 1, failures: 0, lease: null });
  });
});

describe("GET /api/deliveries", () => {
  it("lists deliveries newest first, by state and channel, page by page, with the first words of their text", async () => {
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
        text: `${"word ".repeat(100)}s3cret`,
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
