import { expect } from "chai";
import sinon from "sinon";
import { AppError } from "../../../src/shared/errors.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { type SlackMessage, SlackServer } from "../../support/servers/slackServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const ANN = { id: "U0ANN", name: "ann" };
const STRANGER = { id: "U0EVE", name: "eve" };
const TIMINGS = { ...FAST_TIMINGS, lease: { ...FAST_TIMINGS.lease, acquireEveryMs: 50 } };

describe("people in Slack, in Socket Mode", () => {
  let slack: SlackServer;
  let app: TestApp;
  const workers: TestWorker[] = [];
  beforeEach(async () => {
    slack = await SlackServer.start();
    const bot = { botToken: "xoxb-1", apiUrl: slack.url, appToken: "xapp-1", allowFrom: [ANN.id] };
    const config = {
      channels: { slack: { ...bot, inbox: { sessionKey: "team" } } },
      notify: [{ id: "people", on: ["gate.opened"], to: { channel: "slack", to: "C0OPS" } }],
    };
    app = await startApp({ config: JSON.stringify(config) });
  });
  afterEach(async () => {
    sinon.restore();
    await stopAll();
    await app.close();
    await slack.close();
  });

  const start = async (timings = TIMINGS) => void workers.push(await startWorker(app, {}, timings));
  const stopAll = () => Promise.all(workers.splice(0).map((worker) => worker.close()));
  const connected = (count: number) => eventually(() => slack.sockets.length === count, `${count} connections`);
  const acknowledged = (id: string) => eventually(() => slack.acknowledged.includes(id), "the acknowledgement");
  const check = async () => (await app.call("POST", "/api/channels/slack/check")).body;
  async function ask() {
    const { path } = await createJob(app);
    const gate = `${path}/gates/publish`;
    await app.call("PUT", gate, { title: "Publish?" });
    const find = () => slack.messages.find(({ text }) => text.includes("Publish?"));
    const message: SlackMessage = await eventually(find, "the message of the question");
    return { message, read: async () => (await app.call("GET", gate)).body };
  }
  const write = (text: string, more: object = {}) => ({
    type: "message",
    user: ANN.id,
    text,
    channel: "C0OPS",
    ts: slack.nextTime(),
    ...more,
  });
  const runs = () => app.stores.runs.collection.native.find({ sessionKey: "team" }).sort({ order: 1 }).toArray();

  it("answer questions and write to sessions as over the request URL, which is not served", async () => {
    await start();
    await connected(1);
    const { message, read } = await ask();

    const press = slack.emitPress(message, "Accept", ANN);
    const event = slack.emit(write("Hello"));
    const slash = slack.sendEnvelope("slash_commands", { command: "/deploy" });

    await Promise.all([press, event, slash].map(acknowledged));
    await eventually(() => message.text.includes("by slack:U0ANN (ann)"), "the message to say who answered");
    expect(await read()).to.include({ status: "answered", answeredBy: "slack:U0ANN (ann)" });
    const [run] = await eventually(async () => ((await runs()).length === 1 ? runs() : undefined), "the run");
    expect(run?.request).to.include({ message: "Hello", channel: "slack" });
    expect((await slack.send(app, "{}")).status).to.equal(404);
    const detail = "posts as @signalbox in Acme; with buttons and replies for 1 person";
    expect(await check()).to.include({ ok: true, detail });
  });

  it("are told privately if they may not answer", async () => {
    await start();
    await connected(1);
    const { message, read } = await ask();

    slack.emitPress(message, "Accept", STRANGER);

    await eventually(
      () => slack.ephemeral.some(({ user, text }) => user === STRANGER.id && text.includes("may not")),
      "the refusal",
    );
    expect(await read()).to.include({ status: "open" });
  });

  it("reach one worker, and the other once that one stops", async () => {
    await start();
    await connected(1);
    await start();
    const [first] = workers.splice(0, 1);

    await first?.close();
    await connected(2);
    await acknowledged(slack.emit(write("To the second")));

    await eventually(async () => (await runs()).length === 1, "the run");
  });

  it("are heard on a new connection when Slack replaces the old one, which ends after that", async () => {
    await start();
    await connected(1);
    const [old] = slack.sockets;
    const closed = new Promise<void>((resolve) => old?.once("close", resolve));

    old?.sendText(JSON.stringify({ type: "disconnect", reason: "warning" }));
    await connected(2);
    await closed;

    await acknowledged(slack.emit(write("On the new connection")));
  });

  for (const greets of [true, false]) {
    it(`cause few connections while Slack replaces each one at once, ${greets ? "with" : "without"} a greeting, and are heard after that`, async () => {
      Object.assign(slack, { greets, replaces: true });
      const startedAt = performance.now();
      await start();
      await eventually(() => slack.sockets.length >= 4, "some connections");
      const perSecond = (slack.sockets.length / (performance.now() - startedAt)) * 1_000;
      Object.assign(slack, { greets: true, replaces: false });
      const before = slack.sockets.length;
      await eventually(() => slack.sockets.length > before, "a connection that stays");

      expect(perSecond).to.be.below(10);
      await acknowledged(slack.emit(write("On the last connection")));
    });
  }

  it("are heard again after a connection that breaks or falls silent, and not while pings arrive", async () => {
    await start({ ...TIMINGS, chat: { ...TIMINGS.chat, silenceMs: 1_000 } });
    await connected(1);
    slack.sockets[0]?.destroy();
    await connected(2);
    let pings = 0;
    const pinging = setInterval(() => {
      slack.sockets[1]?.ping();
      pings++;
    }, 50);
    await eventually(() => pings === 30, "pings for longer than a connection may be silent");
    clearInterval(pinging);
    const during = slack.sockets.length;
    await connected(3);

    expect(during).to.equal(2);
  });

  it("lose nothing while MongoDB is away: what is not stored is not acknowledged", async () => {
    await start();
    await connected(1);
    const add = sinon.stub(app.stores.chatUpdates, "add").rejects(new AppError("unavailable"));
    const event = write("Once");
    slack.emit(event);
    await connected(2);
    add.restore();

    const again = slack.emit(event);
    await acknowledged(again);

    expect(slack.acknowledged).to.deep.equal([again]);
    await eventually(async () => (await runs()).length === 1, "the run");
  });

  it("are missed while Slack refuses the token, which the check of the channel says", async () => {
    slack.connectionError = "invalid_auth";
    await start();
    const faulty = await eventually(async () => {
      const found = await check();
      return found.ok ? undefined : found;
    }, "the fault of the channel");
    slack.connectionError = undefined;
    await connected(1);

    expect(faulty.detail).to.include("which do not arrive: Slack answered 200 (invalid_auth)");
    await eventually(async () => (await check()).ok, "the channel to be well again");
  });

  it("are missed once Socket Mode is turned off, which the check of the channel says", async () => {
    await start();
    await connected(1);
    slack.greets = false;

    slack.sockets[0]?.sendText(JSON.stringify({ type: "disconnect", reason: "link_disabled" }));

    const find = async () => ((await check()).ok ? undefined : check());
    expect((await eventually(find, "the fault")).detail).to.include("Socket Mode is turned off");
  });
});
