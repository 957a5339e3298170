import { expect } from "chai";
import sinon from "sinon";
import { eventually } from "../../support/eventually.ts";
import { answers, type Behaviour, says } from "../../support/servers/modelServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { ACK, bearer, FENCED, MainSessionFixture } from "./mainSessionFixture.ts";

describe("a turn of the main session", () => {
  const fixture = MainSessionFixture.use();

  it("receives all events that arrived during the previous turn, in order, each with its own fence", async () => {
    await fixture.start();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Behaviour = async (response, request) => {
      await released;
      return says(ACK)(response, request);
    };
    fixture.model.script(slow, ...Array<Behaviour>(9).fill(says(ACK)));

    await fixture.wake("Disk is full");
    await eventually(() => fixture.model.requests.length === 1, "the first turn");
    for (const text of ["b", "c", "d", "e", "f"]) await fixture.wake(text);
    release();
    await fixture.allTaken();
    await fixture.wake("g"); // An excess turn would come before the turn of this event.
    await fixture.allTaken();

    expect(fixture.events()).to.deep.equal([["Disk is full"], ["b", "c", "d", "e", "f"], ["g"]]);
    for (const { prompt } of fixture.turns()) {
      expect(prompt).to.match(/^See to it\./);
      expect(prompt.replaceAll(FENCED, "")).to.include("came from outside").and.not.include("Disk is full");
    }
  });

  const quiet = [ACK, `${ACK} ${"x".repeat(300)}`, `${"x".repeat(300)}\n${ACK}`];
  const telling = ["The disk is full.", `${ACK} ${"x".repeat(301)}`, `${"x".repeat(200)} ${ACK} ${"x".repeat(200)}`];

  it("delivers its reply, unless it is HEARTBEAT_OK with at most 300 further characters", async () => {
    await fixture.start();
    fixture.model.script(...[...quiet, ...telling].map((reply) => says(reply)));

    for (let n = 0; n < quiet.length + telling.length; n++) {
      await fixture.wake(`event ${n}`);
      await fixture.allTaken();
    }
    const sent = await eventually(async () => {
      const all = await fixture.deliveries();
      return all.every(({ state }) => state === "sent") && all;
    }, "the deliveries");

    expect(fixture.model.requests).to.have.length(quiet.length + telling.length);
    expect(sent.map(({ text }) => text)).to.deep.equal(telling);
    for (const { _id } of sent) expect(_id).to.match(/^turn-[0-9a-f]{32}$/);
    for (const { channel, to, runId } of sent) expect([channel, to, runId]).to.deep.equal(["log", "me", null]);
  });

  it("delivers to the operator's recipient, whatever recipients requests have named", async () => {
    await fixture.start();
    fixture.model.script(says("For you."), says("Something happened."));

    const request = { message: "x", channel: "log", to: "you", wakeMode: "next-heartbeat" };
    await fixture.app.call("POST", "/hooks/agent", request, bearer);
    await eventually(
      async () => (await fixture.deliveries()).some(({ state }) => state === "sent"),
      "the run's delivery",
    );
    await fixture.wake("event");
    await fixture.allTaken();

    const sent = await fixture.deliveries();
    expect(sent.map(({ text, channel, to }) => [text, channel, to])).to.deep.equal([
      ["For you.", "log", "you"],
      ["Something happened.", "log", "me"],
    ]);
  });

  it("delivers to the last recipient with session.followDeliveries", async () => {
    await fixture.start({ session: "followDeliveries: true," });
    fixture.model.script(says("For you."), says("Something happened."));

    const request = { message: "x", channel: "log", to: "you", wakeMode: "next-heartbeat" };
    await fixture.app.call("POST", "/hooks/agent", request, bearer);
    await eventually(async () => (await fixture.app.stores.sessions.replyTarget())?.to === "you", "the run's delivery");
    await fixture.wake("event");
    await fixture.allTaken();

    const sent = await fixture.deliveries();
    expect(sent.map(({ text, to }) => [text, to])).to.deep.equal([
      ["For you.", "you"],
      ["Something happened.", "you"],
    ]);
  });

  it("that fails leaves its events to the next turn, which receives them before its own", async () => {
    await fixture.start({ retryMs: 60_000 });
    const swept = countSweepsOfTurn();
    const fails: Behaviour = async (response, request) => {
      await eventually(() => swept() >= 2, "two sweeps during the turn");
      return answers(401, { error: {} })(response, request);
    };
    fixture.model.script(fails, says(ACK));

    await fixture.wake("a");
    await eventually(
      () => fixture.worker.log.some(({ msg, queue }) => msg === "the queue job failed" && queue === "heartbeat"),
      "the turn to fail",
    );
    const { events: left } = await fixture.app.stores.mainEvents.findWaiting({ limit: 10, maxChars: 1e6 });
    await fixture.wake("b", "next-heartbeat");
    await fixture.wake("c");
    await fixture.allTaken();

    expect(left.map(({ text }) => text)).to.deep.equal(["a"]);
    expect(fixture.events()).to.deep.equal([["a"], ["a", "b", "c"]]);
    expect(await fixture.deliveries()).to.deep.equal([]);
  });

  /** Keeps the sweep from waking the main session before its first turn, and counts its attempts since then. */
  function countSweepsOfTurn(): () => number {
    const { mainEvents, sessions } = fixture.app.stores;
    const isRunning = () => fixture.model.requests.length > 0;
    const wantsTurn = mainEvents.wantsTurn.bind(mainEvents);
    mainEvents.wantsTurn = async (before) => isRunning() && wantsTurn(before);
    const isMainBusy = sinon.spy(sessions, "isMainBusy");
    return () => isMainBusy.callCount;
  }

  it("is followed by more turns when the events exceed session.maxChars, and no event is lost", async () => {
    await fixture.start({ session: "maxChars: 5000" });
    const texts = Array.from({ length: 20 }, (_, n) => `${n} ${"x".repeat(400)}`);

    for (const text of texts) await fixture.wake(text, "next-heartbeat");
    await fixture.wake("the last");
    await fixture.allTaken();

    expect(fixture.events().length).to.be.within(3, texts.length - 1);
    expect(fixture.events().flat()).to.deep.equal([...texts, "the last"]);
    for (const { prompt } of fixture.turns()) expect(prompt.length).to.be.at.most(5_000);
  });

  it("receives one part of an event that is longer than session.maxChars; later turns receive each other part once, before the next event", async () => {
    await fixture.start({ session: "maxChars: 5000" });
    const long = Array.from({ length: 2_000 }, (_, n) => `word${n}`).join(" ");
    fixture.model.script(
      says(ACK),
      answers(400, { error: { message: "not now" } }),
      ...Array<Behaviour>(50).fill(says(ACK)),
    );

    await fixture.wake(long, "next-heartbeat");
    await fixture.wake("the last");
    await eventually(() => fixture.model.requests.length === 2, "the turn that fails");
    await fixture.wake("one more");
    await fixture.allTaken();

    const received = fixture.events().filter((_, turn) => turn !== 1);
    expect(received.length).to.be.greaterThan(3);
    expect(received.flat().slice(0, -2).join("")).to.equal(long);
    expect(received.flat().slice(-2)).to.deep.equal(["the last", "one more"]);
    for (const { prompt } of fixture.turns()) expect(prompt.length).to.be.at.most(5_000);
  });

  it("is not triggered by wakeMode next-heartbeat, whose event the next turn receives", async () => {
    await fixture.start();

    await fixture.wake("a", "next-heartbeat");
    await fixture.app.call(
      "POST",
      "/hooks/agent",
      { message: "x", wakeMode: "next-heartbeat", deliver: false },
      bearer,
    );
    await eventually(async () => (await fixture.app.stores.mainEvents.countWaiting()) === 2, "the run's summary");
    const triggers = (await fixture.app.queues.depths()).filter(
      ({ queue, state }) => queue === "heartbeat" && state !== "delayed",
    );
    await fixture.wake("b");
    await fixture.allTaken();

    expect(triggers.map(({ count }) => count)).to.deep.equal([0, 0, 0]);
    expect(fixture.events()).to.deep.equal([["x"], ["a", `Hook: completed\n${ACK}`, "b"]]);
  });

  it("is left out by the schedule while no events are waiting, unless the operator has set a prompt", async () => {
    await fixture.start({ prompt: "" });

    await fixture.schedule();
    await fixture.wake("a", "next-heartbeat");
    await fixture.schedule();
    await fixture.allTaken();

    expect(fixture.events()).to.deep.equal([["a"]]);
  });

  it("is tried at growing distances while the model server is away, with one line each, until a new event or success", async () => {
    await fixture.start();
    fixture.model.script(...Array<Behaviour>(3).fill(answers(503, { error: {} })), says(ACK));
    const waits = () => fixture.worker.log.filter(({ code }) => code === "agent_unavailable");
    const pause = async () => (await fixture.app.stores.sessions.collection.native.findOne({ _id: "main" }))?.pause;
    const failures = async (count: number) => {
      await eventually(() => waits().length === count, `failure ${count}`);
      return (await pause())?.failures;
    };

    await fixture.wake("a");
    const first = await failures(1);
    fixture.app.clock.advance(FAST_TIMINGS.retry.heartbeatMs);
    const second = await failures(2);
    await fixture.wake("b");
    const afterEvent = await failures(3);
    fixture.app.clock.advance(FAST_TIMINGS.retry.heartbeatMs);
    await fixture.allTaken();
    await eventually(async () => (await pause()) === undefined, "the end of the pause");

    expect([first, second, afterEvent]).to.deep.equal([1, 2, 1]);
    for (const line of waits()) {
      expect(line).to.include({ level: 40, queue: "heartbeat" }).and.not.have.property("err");
      expect(line.msg).to.match(
        /^The main session waits for the model server at http:\S+ \(next try \d\d:\d\d\): The model server answered 503\.$/,
      );
    }
    expect(fixture.worker.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
  });
});
