import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  type Behaviour,
  type ModelServer,
  says,
  startModelServer,
} from "../../support/servers/modelServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const ACK = "HEARTBEAT_OK";
const FENCED = /<<<BEGIN_UNTRUSTED_CONTENT id="([0-9a-f]{32})">>>\n([\s\S]*?)\n<<<END_UNTRUSTED_CONTENT id="\1">>>/g;

/** A turn that the model server received. */
interface Turn {
  readonly prompt: string;
  /** The texts between markers, in order. */
  readonly events: string[];
}

describe("a turn of the main session", () => {
  let model: ModelServer;
  let app: TestApp;
  let worker: TestWorker;

  /** @param retryMs how long the events of a failed turn wait for another event */
  async function start({
    every = "1d",
    session = "",
    settings = "",
    prompt = 'prompt: "See to it."',
    retryMs = FAST_TIMINGS.retry.heartbeatMs,
  } = {}) {
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "${every}", ${prompt} } },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        session: { main: { channel: "log", to: "me" }, ${session} },
        channels: { log: {} }, ${settings}
      }`,
    });
    const retry = { ...FAST_TIMINGS.retry, heartbeatMs: retryMs };
    worker = await startWorker(app, {}, { ...FAST_TIMINGS, retry });
  }
  beforeEach(async () => {
    model = await startModelServer();
    model.script(...Array<Behaviour>(50).fill(says(ACK)));
  });
  afterEach(async () => {
    await worker.close();
    await app.close();
    await model.close();
  });

  const wake = async (text: string, mode = "now"): Promise<void> => {
    const { status } = await app.call("POST", "/hooks/wake", { text, mode }, bearer);
    expect(status).to.equal(200);
  };
  /** Triggers a turn as the schedule does. */
  const schedule = () => app.queues.all.find(({ name }) => name === "heartbeat")?.add("heartbeat", { scheduled: true });
  const turns = (): Turn[] =>
    model.requests.map(({ body }) => {
      const prompt: string = body.messages.at(-1).content;
      return { prompt, events: [...prompt.matchAll(FENCED)].map(([, , text = ""]) => text) };
    });
  const events = () => turns().map((turn) => turn.events);
  const allTaken = () => eventually(async () => (await app.stores.events.countWaiting()) === 0, "every event's turn");
  const deliveries = () => app.stores.deliveries.collection.find({}).sort({ createdAt: 1 }).toArray();

  it("receives all events that arrived during the previous turn, in order, each with its own fence", async () => {
    await start();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Behaviour = async (response, request) => {
      await released;
      return says(ACK)(response, request);
    };
    model.script(slow, ...Array<Behaviour>(9).fill(says(ACK)));

    await wake("Disk is full");
    await eventually(() => model.requests.length === 1, "the first turn");
    for (const text of ["b", "c", "d", "e", "f"]) await wake(text);
    release();
    await allTaken();
    await wake("g"); // An excess turn would come before the turn of this event.
    await allTaken();

    expect(events()).to.deep.equal([["Disk is full"], ["b", "c", "d", "e", "f"], ["g"]]);
    for (const { prompt } of turns()) {
      expect(prompt).to.match(/^See to it\./);
      expect(prompt.replaceAll(FENCED, "")).to.include("came from outside").and.not.include("Disk is full");
    }
  });

  const quiet = [ACK, `${ACK} ${"x".repeat(300)}`, `${"x".repeat(300)}\n${ACK}`];
  const telling = ["The disk is full.", `${ACK} ${"x".repeat(301)}`, `${"x".repeat(200)} ${ACK} ${"x".repeat(200)}`];

  it("delivers its reply, unless it is HEARTBEAT_OK with at most 300 further characters", async () => {
    await start();
    model.script(...[...quiet, ...telling].map((reply) => says(reply)));

    for (let n = 0; n < quiet.length + telling.length; n++) {
      await wake(`event ${n}`);
      await allTaken();
    }
    const sent = await eventually(async () => {
      const all = await deliveries();
      return all.every(({ state }) => state === "sent") && all;
    }, "the deliveries");

    expect(model.requests).to.have.length(quiet.length + telling.length);
    expect(sent.map(({ text }) => text)).to.deep.equal(telling);
    for (const { _id } of sent) expect(_id).to.match(/^turn-[0-9a-f]{32}$/);
    for (const { channel, to, runId } of sent) expect([channel, to, runId]).to.deep.equal(["log", "me", null]);
  });

  it("delivers to the operator's recipient, whatever recipients requests have named", async () => {
    await start();
    model.script(says("For you."), says("Something happened."));

    const request = { message: "x", channel: "log", to: "you", wakeMode: "next-heartbeat" };
    await app.call("POST", "/hooks/agent", request, bearer);
    await eventually(async () => (await deliveries()).some(({ state }) => state === "sent"), "the run's delivery");
    await wake("event");
    await allTaken();

    const sent = await deliveries();
    expect(sent.map(({ text, channel, to }) => [text, channel, to])).to.deep.equal([
      ["For you.", "log", "you"],
      ["Something happened.", "log", "me"],
    ]);
  });

  it("delivers to the last recipient with session.followDeliveries", async () => {
    await start({ session: "followDeliveries: true," });
    model.script(says("For you."), says("Something happened."));

    const request = { message: "x", channel: "log", to: "you", wakeMode: "next-heartbeat" };
    await app.call("POST", "/hooks/agent", request, bearer);
    await eventually(async () => (await app.stores.sessions.replyTarget())?.to === "you", "the run's delivery");
    await wake("event");
    await allTaken();

    const sent = await deliveries();
    expect(sent.map(({ text, to }) => [text, to])).to.deep.equal([
      ["For you.", "you"],
      ["Something happened.", "you"],
    ]);
  });

  it("that fails leaves its events to the next turn, which receives them before its own", async () => {
    await start({ retryMs: 60_000 });
    model.script(answers(401, { error: {} }), says(ACK));

    await wake("a");
    await eventually(
      () => worker.log.some(({ msg, queue }) => msg === "the queue job failed" && queue === "heartbeat"),
      "the turn to fail",
    );
    const { events: left } = await app.stores.events.findWaiting({ limit: 10, maxChars: 1e6 });
    await wake("b", "next-heartbeat");
    await wake("c");
    await allTaken();

    expect(left.map(({ text }) => text)).to.deep.equal(["a"]);
    expect(events()).to.deep.equal([["a"], ["a", "b", "c"]]);
    expect(await deliveries()).to.deep.equal([]);
  });

  it("is followed by more turns when the events exceed session.maxChars, and no event is lost", async () => {
    await start({ session: "maxChars: 5000" });
    const texts = Array.from({ length: 20 }, (_, n) => `${n} ${"x".repeat(400)}`);

    for (const text of texts) await wake(text, "next-heartbeat");
    await wake("the last");
    await allTaken();

    expect(events().length).to.be.within(3, texts.length - 1);
    expect(events().flat()).to.deep.equal([...texts, "the last"]);
    for (const { prompt } of turns()) expect(prompt.length).to.be.at.most(5_000);
  });

  it("receives one part of an event that is longer than session.maxChars; later turns receive each other part once, before the next event", async () => {
    await start({ session: "maxChars: 5000" });
    const long = Array.from({ length: 2_000 }, (_, n) => `word${n}`).join(" ");
    model.script(says(ACK), answers(400, { error: { message: "not now" } }), ...Array<Behaviour>(50).fill(says(ACK)));

    await wake(long, "next-heartbeat");
    await wake("the last");
    await eventually(() => model.requests.length === 2, "the turn that fails");
    await wake("one more");
    await allTaken();

    const received = events().filter((_, turn) => turn !== 1);
    expect(received.length).to.be.greaterThan(3);
    expect(received.flat().slice(0, -2).join("")).to.equal(long);
    expect(received.flat().slice(-2)).to.deep.equal(["the last", "one more"]);
    for (const { prompt } of turns()) expect(prompt.length).to.be.at.most(5_000);
  });

  it("is not triggered by wakeMode next-heartbeat, whose event the next turn receives", async () => {
    await start();

    await wake("a", "next-heartbeat");
    await app.call("POST", "/hooks/agent", { message: "x", wakeMode: "next-heartbeat", deliver: false }, bearer);
    await eventually(async () => (await app.stores.events.countWaiting()) === 2, "the run's summary");
    const triggers = (await app.queues.depths()).filter(
      ({ queue, state }) => queue === "heartbeat" && state !== "delayed",
    );
    await wake("b");
    await allTaken();

    expect(triggers.map(({ count }) => count)).to.deep.equal([0, 0, 0]);
    expect(events()).to.deep.equal([["x"], ["a", `Hook: completed\n${ACK}`, "b"]]);
  });

  it("is left out by the schedule while no events are waiting, unless the operator has set a prompt", async () => {
    await start({ prompt: "" });

    await schedule();
    await wake("a", "next-heartbeat");
    await schedule();
    await allTaken();

    expect(events()).to.deep.equal([["a"]]);
  });

  it("is tried at growing distances while the model server is away, with one line each, until a new event or success", async () => {
    await start();
    model.script(...Array<Behaviour>(3).fill(answers(503, { error: {} })), says(ACK));
    const waits = () => worker.log.filter(({ code }) => code === "agent_unavailable");
    const pause = async () => (await app.stores.sessions.collection.findOne({ _id: "main" }))?.pause;
    const failures = async (count: number) => {
      await eventually(() => waits().length === count, `failure ${count}`);
      return (await pause())?.failures;
    };

    await wake("a");
    const first = await failures(1);
    app.clock.advance(FAST_TIMINGS.retry.heartbeatMs);
    const second = await failures(2);
    await wake("b");
    const afterEvent = await failures(3);
    app.clock.advance(FAST_TIMINGS.retry.heartbeatMs);
    await allTaken();
    await eventually(async () => (await pause()) === undefined, "the end of the pause");

    expect([first, second, afterEvent]).to.deep.equal([1, 2, 1]);
    for (const line of waits()) {
      expect(line).to.include({ level: 40, queue: "heartbeat" }).and.not.have.property("err");
      expect(line.msg).to.match(
        /^The main session waits for the model server at http:\S+ \(next try \d\d:\d\d\): The model server answered 503\.$/,
      );
    }
    expect(worker.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
  });
});
