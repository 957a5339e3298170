import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import type { DeliveryPart } from "../../../src/models/deliveries/delivery.ts";
import { ChannelLimiter } from "../../../src/workers/deliveries/channelLimiter.ts";
import type { TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, type Deliveries, limited, resultOf, SENT, useDeliveries } from "./useDeliveries.ts";

describe("a delivery", () => {
  let app: TestApp;
  let metrics: Deliveries["metrics"];
  let messages: Deliveries["messages"];
  let lines: Deliveries["lines"];
  const { start, stop, add, addWaiting, until, counted, telegram, texts } = useDeliveries((started) => {
    ({ app, metrics, messages, lines } = started);
  });
  const routed = () => eventually(() => app.stores.sessions.replyTarget(), "a route");

  it("is sent part by part, in order, each with its own key; then its recipient is the reply target of the main session", async () => {
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

  it("is shown with its run: attempts, parts, the service's ids and the first words of its text", async () => {
    start([{ kind: "sent", id: "m-1" }, resultOf("transient"), { kind: "sent", id: "m-2" }], { limit: 5 });
    const [runId, common] = [randomUUID(), { kind: "agent" as const, name: null, sessionKey: "x", singleUse: false }];
    await app.stores.runs.accept([{ _id: runId, ...common, mapped: null, request: null }]);

    const id = await add("first other", "anna", { runId });
    await until(id, "sent");
    const { status, body } = await app.call("GET", `/api/runs/${runId}`);

    expect([status, body.deliveries.length]).to.deep.equal([200, 1]);
    expect(body.deliveries[0]).to.deep.include({
      deliveryId: id,
      channel: "telegram",
      to: "anna",
      state: "sent",
      attempts: 2,
      maybeTwice: false,
      parts: [
        { state: "sent", id: "m-1" },
        { state: "sent", id: "m-2" },
      ],
    });
    expect(body.deliveries[0]).to.include({ preview: "first other" }).and.to.not.have.property("text");
  });

  it("is sent while another recipient is rate-limited", async () => {
    start([limited("recipient", 3_600_000)]);

    await addWaiting("a");
    const behind = await add("b");
    const other = await add("c", "bert");
    await until(other, "sent");

    expect(texts()).to.deep.equal(["anna: a", "bert: c"]);
    expect(await app.stores.deliveries.find(behind)).to.include({ state: "pending" });
  });

  it("is sent while a reply of another session to the same recipient waits for another try; its own session waits", async () => {
    start([resultOf("transient")]);

    await addWaiting("a", "anna", { sessionKey: "one", failures: 4 });
    const behind = await add("b", "anna", { sessionKey: "one" });
    const other = await add("c", "anna", { sessionKey: "two" });
    await until(other, "sent");

    expect(texts()).to.deep.equal(["anna: a", "anna: c"]);
    expect(await app.stores.deliveries.find(behind)).to.include({ state: "pending", attempts: 0 });
  });

  it("waits while a reply of another session has met the rate limit of their recipient", async () => {
    start([limited("recipient", 3_600_000)]);

    await addWaiting("a", "anna", { sessionKey: "one" });
    const behind = await add("b", "anna", { sessionKey: "two" });
    await until(await add("c", "bert"), "sent");

    expect(texts()).to.deep.equal(["anna: a", "bert: c"]);
    expect(await app.stores.deliveries.find(behind)).to.include({ state: "pending", attempts: 0 });
  });

  it("leaves the worker free for other recipients while replies of many sessions to one hang", async () => {
    const ends: ((result: SendOutcome) => void)[] = [];
    const hangs = () => new Promise<SendOutcome>((resolve) => ends.push(resolve));
    start([hangs, hangs]);

    for (let i = 0; i < 12; i++) await add(`${i}`, "anna", { sessionKey: `session ${i}` });
    await eventually(() => ends.length === 2, "two replies to hang");
    await until(await add("c", "bert"), "sent");

    expect(texts().slice(2)).to.deep.equal(["bert: c"]);
    for (const end of ends) end(SENT);
  });

  it("is tried again after a transient error; failures are counted from the last part that was sent", async () => {
    start([SENT, resultOf("transient")], { limit: 5 });

    const id = await add("first second");
    const waits = await eventually(async () => {
      const found = await app.stores.deliveries.find(id);
      return found.notBefore && found;
    }, "the failed try");
    const delivery = await until(id, "sent");

    expect(waits).to.include({ attempts: 1, failures: 1, reason: "It was transient." });
    expect(texts()).to.deep.equal(["anna: first", "anna: secon", "anna: secon", "anna: d"]);
    expect(messages[1]?.key).to.equal(messages[2]?.key);
    expect(delivery).to.include({ attempts: 2, failures: 0, maybeTwice: false });
  });

  it("fails after the last attempt, and the next delivery to the recipient is sent", async () => {
    start([resultOf("transient")]);

    const id = await add("a", "anna", { failures: 5 });
    const next = await add("b");
    const delivery = await until(id, "failed");
    await until(next, "sent");

    expect(delivery.reason).to.equal("It was transient. It was tried 6 times.");
    expect(await routed()).to.deep.equal({ channel: "telegram", to: "anna" });
  });

  it("stops the channel when the credentials are refused: an error in the log, a metric, and no further attempt", async () => {
    start([resultOf("authentication")]);

    const id = await addWaiting("a");
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
    const { channelStop, notBefore } = await app.stores.deliveries.find(id);
    expect(channelStop).to.include({ reason: "It was authentication." });
    expect(waits.channelStop).to.deep.equal(channelStop);
    expect(await telegram()).to.deep.include({
      state: "stopped",
      stoppedSince: channelStop?.since.toISOString(),
      reason: "It was authentication.",
      nextTryAt: [notBefore, waits.notBefore].map((at) => at?.toISOString()).sort()[0],
    });
  });

  it("is tried at once when it is retried by hand after the configuration was reloaded with valid credentials", async () => {
    start([resultOf("authentication")]);
    const ids = [await addWaiting("a"), await addWaiting("b", "bert")] as const;
    await stop();
    start([]); // as with a configuration that was reloaded

    const retried = await Promise.all(ids.map((id) => app.call("POST", `/api/deliveries/${id}/retry`)));
    const sent = await Promise.all(ids.map((id) => until(id, "sent")));

    expect(retried.map(({ status, body }) => [status, body.notBefore])).to.deep.equal([
      [202, null],
      [202, null],
    ]);
    expect(texts()).to.have.members(["anna: a", "anna: a", "bert: b"]);
    expect(sent.map(({ attempts }) => attempts)).to.deep.equal([2, 1]);
  });

  it("is tried at once when it is retried by hand after its credentials were corrected at the service; others follow it", async () => {
    start([resultOf("authentication")]);
    const id = await addWaiting("a");

    const { body } = await app.call("POST", `/api/deliveries/${id}/retry`);
    await until(id, "sent");
    await until(await add("b", "bert"), "sent");

    expect(body).to.include({ state: "pending", notBefore: null });
    expect(texts()).to.deep.equal(["anna: a", "anna: a", "bert: b"]);
    expect(await metrics.registry.metrics()).to.match(/^signalbox_channel_stopped\{channel="telegram"\} 0$/m);
  });

  it("obeys a limit of the channel even when it is retried by hand", async () => {
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

  it("may wait for another day when it is retried by hand after more than a day", async () => {
    start([limited("recipient", 3_600_000), limited("recipient", 3_600_000)]);
    const id = await add("a");
    const found = () => app.stores.deliveries.find(id);
    await eventually(async () => (await found()).notBefore, "it to wait");
    app.clock.advance(25 * 3_600_000);

    await app.call("POST", `/api/deliveries/${id}/retry`);
    await eventually(async () => messages.length === 2 && (await found()).notBefore, "it to wait again");

    expect(await found()).to.include({ state: "pending", reason: "Too many." });
  });

  it("waits longer after each limit of its recipient for which the service names no time", async () => {
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
    expect(Number(until2) - Number(until1), "retried at once").to.be.below(5_000);
    expect(await found()).to.include({ limits: 1 });
  });

  it("lets the next one probe the credentials when it is released before it was sent", async () => {
    let stopped: Promise<void> | undefined;
    class Late extends ChannelLimiter {
      override async admit(signal: AbortSignal, retriedAt?: Date) {
        const admission = await super.admit(signal, retriedAt);
        if (!stopped) {
          stopped = stop();
          await eventually(() => signal.aborted, "the worker to stop");
        }
        return admission;
      }
    }
    const limiter = new Late();
    limiter.stop(0, 0, "Bad token.", new Date());
    start([], { limiter });

    const id = await add("a");
    await eventually(() => stopped !== undefined, "a message to be admitted");
    await stopped;
    const next = await limiter.admit(new AbortController().signal);

    expect(next).to.deep.equal({ kind: "admitted", epoch: 1 });
    expect(messages).to.deep.equal([]);
    expect(await app.stores.deliveries.find(id)).to.include({ state: "pending", lease: null });
  });

  it("resets the metric of a stopped channel when the credentials are accepted again", async () => {
    class BriefStop extends ChannelLimiter {
      override stop = (epoch: number, _forMs: number, reason: string, at: Date) => super.stop(epoch, 0, reason, at);
    }
    start([resultOf("authentication"), resultOf("authentication")], { limiter: new BriefStop() });
    const stopped = async () =>
      /^signalbox_channel_stopped\{channel="telegram"\} (\d)$/m.exec(await metrics.registry.metrics());
    const id = await addWaiting("a");
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
      "logged once",
    ).to.have.length(1);
  });

  it("fails when it has waited for a day", async () => {
    start([resultOf("authentication")]);

    const id = await add("a", "anna", { since: new Date(Date.now() - 24 * 3_600_000) });

    expect((await until(id, "failed")).reason).to.equal("It was authentication. It was given up after a day.");
  });

  it("fails without visible text, and its recipient does not become the reply target", async () => {
    start([]);

    const failed = await until(await add("\u200b"), "failed");

    expect(failed.reason).to.equal("The reply has no visible text.");
    expect([messages, await app.stores.sessions.replyTarget()]).to.deep.equal([[], null]);
  });

  it("is sent after those that wait for its recipient when it is retried", async () => {
    start([resultOf("gone"), () => new Promise((resolve) => setImmediate(() => resolve(SENT)))]);
    const failed = await add("old");
    await until(failed, "failed");
    await stop();

    const ids = [await add("one"), await add("two")];
    await app.call("POST", `/api/deliveries/${failed}/retry`);
    start([]);
    for (const id of [...ids, failed]) await until(id, "sent");

    expect(texts().slice(1)).to.deep.equal(["anna: one", "anna: two", "anna: old"]);
  });

  it("fails with an earlier one to the same unreachable recipient; those to other recipients do not", async () => {
    let answer: (result: SendOutcome) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const first = await add("a");
    await eventually(() => messages.length === 1, "the first to be sent");
    const waiting = [await add("b"), await add("c")] as const;
    const other = await add("d", "bert");
    await until(other, "sent");
    answer(resultOf("gone"));
    const failed = await Promise.all([first, ...waiting].map((id) => until(id, "failed")));
    const later = await until(await add("e"), "sent");

    expect(failed.map(({ reason }) => reason)).to.deep.equal(Array(3).fill("It was gone."));
    expect(texts()).to.deep.equal(["anna: a", "bert: d", "anna: e"]);
    expect(later.parts).to.have.length(1);
    await counted(/^signalbox_deliveries_total\{channel="telegram",outcome="failed"\} 3$/m);
  });

  it("is not sent after it was cancelled, and the next one to the recipient is sent", async () => {
    start([resultOf("transient")]);
    const id = await addWaiting("a", "anna", { failures: 4 });
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
    expect(over.body.detail).to.equal("The delivery has already ended: its state is sent.");
    expect([nobody.status, nobody.body.code]).to.deep.equal([404, "delivery_not_found"]);
  });

  it("sends no further part when it is cancelled while a part is being sent", async () => {
    let answer: (result: SendOutcome) => void = () => {};
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

  it("stays cancelled when it is cancelled while its last part is being sent, and its recipient does not become the reply target", async () => {
    let answer: (result: SendOutcome) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);
    const id = await add("a");
    await eventually(() => messages.length === 1, "the part to be sent");

    await app.call("POST", `/api/deliveries/${id}/cancel`);
    answer(SENT);
    await eventually(() => lines.some(({ msg }) => msg === "the queue job is done"), "the attempt to end");

    expect(await app.stores.deliveries.find(id)).to.include({ state: "failed", reason: "It was cancelled." });
    expect(await app.stores.sessions.replyTarget()).to.equal(null);
    expect(await metrics.registry.metrics()).to.not.match(/^signalbox_deliveries_total\{.* [1-9]/m);
  });

  it("is split again when it is retried before any part was sent, and sent once for several simultaneous retries", async () => {
    start([resultOf("gone")], { limit: 5 });
    const id = await add("first other");
    const failed = await until(id, "failed");
    await stop();
    start([], { limit: 100 });

    const retries = await Promise.all(Array.from({ length: 5 }, () => app.call("POST", `/api/deliveries/${id}/retry`)));
    const sent = await until(id, "sent");

    expect(failed.parts).to.have.length(2);
    expect(retries.map(({ status }) => status)).to.include(202);
    expect(retries.filter(({ status, body }) => status !== 202 && body.code !== "delivery_state_conflict")).to.be.empty;
    expect(texts()).to.deep.equal(["anna: first", "anna: first other"]);
    expect(sent.attempts).to.equal(2);
  });

  it("cannot be retried while it is being sent or after it was sent", async () => {
    let answer: (result: SendOutcome) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);
    const id = await add("a");
    await eventually(() => messages.length === 1, "it to be sent");

    const whileSending = await app.call("POST", `/api/deliveries/${id}/retry`);
    answer(SENT);
    await until(id, "sent");
    const sent = await app.call("POST", `/api/deliveries/${id}/retry`);

    expect([whileSending, sent].map(({ status, body }) => [status, body.detail])).to.deep.equal([
      [409, "The delivery is being sent right now. Try again in a few seconds."],
      [409, "The delivery was already sent."],
    ]);
  });

  it("fails at once when the recipient cannot be reached, and a retry leaves out the parts that were sent", async () => {
    start([SENT, resultOf("gone")], { limit: 5 });

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

  it("is sent as plain text when the service refuses the formatting, and fails when it refuses both", async () => {
    start([resultOf("content"), SENT, resultOf("content"), resultOf("content")]);

    const taken = await add("a");
    await until(taken, "sent");
    const refused = await add("b");
    const failed = await until(refused, "failed");

    expect(messages.map(({ plain }) => plain)).to.deep.equal([false, true, false, true]);
    expect(failed.reason).to.equal("It was content.");
  });

  it("fails when a filter refuses it, without an attempt as plain text, and those behind it are sent", async () => {
    let answer: (result: SendOutcome) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const bad = await add("a bad word");
    await eventually(() => messages.length === 1, "the first to be sent");
    const waiting = [await add("b"), await add("c")] as const;
    answer(resultOf("refused"));
    const failed = await until(bad, "failed");
    for (const id of waiting) await until(id, "sent");

    expect([failed.reason, failed.attempts]).to.deep.equal(["It was refused.", 1]);
    expect(texts()).to.deep.equal(["anna: a bad word", "anna: b", "anna: c"]);
  });

  it("continues with the first part that was not confirmed when its worker died", async () => {
    start([]);
    const part = (text: string, state: DeliveryPart["state"]): DeliveryPart => ({
      text,
      plain: text,
      state,
      asPlain: false,
      id: null,
      handedAt: state === "sending" ? new Date() : null,
    });

    const parts = [part("one", "sent"), part("two", "sending"), part("three", "pending")];
    const lease = { token: "dead", until: new Date(0) };
    const delivery = await until(await add("whatever", "anna", { parts, lease }), "sent");

    expect(texts()).to.deep.equal(["anna: two", "anna: three"]);
    expect(delivery.maybeTwice).to.equal(true);
  });

  it("counts the death of its worker as a failed attempt, until a part is sent", async () => {
    let answer: (result: SendOutcome) => void = () => {};
    start([() => new Promise((resolve) => (answer = resolve))]);

    const id = await add("a", "anna", { failures: 2, lease: { token: "dead", until: new Date(0) } });
    await eventually(() => messages.length === 1, "the part to be sent");
    const { failures } = await app.stores.deliveries.find(id);
    answer(SENT);

    expect(failures).to.equal(3);
    expect(await until(id, "sent")).to.include({ failures: 0, maybeTwice: false });
  });
});
