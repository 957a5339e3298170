import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { SLACK_SECRET, type SlackMessage, SlackServer } from "../../support/servers/slackServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const ANN = { id: "U0ANN", name: "ann" };
const BOB = { id: "U0BOB", name: "bob" };
const STRANGER = { id: "U0EVE", name: "eve" };
const HOOK_TOKEN = "a-hook-token-of-length";
const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };

describe("people in Slack", () => {
  let slack: SlackServer;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    slack = await SlackServer.start();
    const signingSecret = SLACK_SECRET;
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      hooks: { enabled: true, token: HOOK_TOKEN, allowRequestSessionKey: true },
      channels: {
        slack: { botToken: "xoxb-1", apiUrl: slack.url, signingSecret, allowFrom: [ANN.id, BOB.id], owners: [BOB.id] },
      },
      notify: [{ id: "people", on: ["gate.opened"], to: { channel: "slack", to: "C0OPS" } }],
    };
    app = await startApp({ config: JSON.stringify(config) });
    worker = await startWorker(app, {}, TIMINGS);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await slack.close();
  });

  async function ask(key: string, body: object = {}) {
    const { path } = await createJob(app);
    const gate = `${path}/gates/${key}`;
    await app.call("PUT", gate, { title: `Publish ${key}?`, ...body });
    const find = () => slack.messages.find(({ text }) => text.includes(`Publish ${key}?`));
    await eventually(() => find() !== undefined, "the message of the question");
    const message = find() as SlackMessage;
    return { message, pressed: { ...message }, read: async () => (await app.call("GET", gate)).body };
  }
  const toldTo = (user: string, words: string) =>
    eventually(
      () => slack.ephemeral.some((one) => one.user === user && one.text.includes(words)),
      `${user} to read ${words}`,
    );
  const runsOf = (sessionKey: string) =>
    app.stores.runs.collection.native.find({ sessionKey }).sort({ order: 1 }).toArray();
  const handled = () =>
    eventually(
      async () => (await app.stores.chatUpdates.collection.native.countDocuments({ open: true })) === 0,
      "all acts to be handled",
    );
  /** Starts a run in a session, and waits for its reply in Slack. */
  async function delivered(sessionKey: string, to = "C0OPS"): Promise<SlackMessage> {
    const before = slack.messages.length;
    const body = { message: `Begin ${sessionKey}`, sessionKey, channel: "slack", to };
    await app.call("POST", "/hooks/agent", body, { Authorization: `Bearer ${HOOK_TOKEN}` });
    await eventually(() => slack.messages.length > before, "the reply");
    const message = slack.messages[before] as SlackMessage;
    // The session of a message is known only once its delivery is recorded.
    const sent = { sessionKey, state: "sent", channel: "slack" } as const;
    await eventually(async () => app.stores.deliveries.collection.native.findOne(sent), "the delivery to be recorded");
    return message;
  }
  const say = (user: string, text: string, thread: SlackMessage, more: object = {}) =>
    slack.event(app, {
      type: "message",
      user,
      text,
      channel: thread.channel,
      ts: slack.nextTime(),
      thread_ts: thread.thread ?? thread.ts,
      ...more,
    });

  it("answer a question by a button, whose message then says who answered what, without buttons", async () => {
    const { message, pressed, read } = await ask("plain");
    expect(message.buttons.map(({ text }) => text.text)).to.deep.equal(["✅ Accept", "❌ Decline"]);

    const response = await slack.press(app, message, "Accept", ANN);

    expect([response.status, await response.text()]).to.deep.equal([200, ""]);
    await eventually(() => message.text.includes("by slack:U0ANN (ann)"), "the message to say who answered");
    expect(message.buttons).to.deep.equal([]);
    expect(await read()).to.include({ status: "answered", action: "accept", answeredBy: "slack:U0ANN (ann)" });
    await slack.press(app, pressed, "Decline", BOB);
    await toldTo(BOB.id, "was already accepted");
  });

  it("answer a question with a form on its page, by a button that opens it", async () => {
    const { message } = await ask("form", {
      requestedSchema: { type: "object", properties: { version: { type: "string" } }, required: ["version"] },
    });
    const [button] = message.buttons;
    expect(button.url).to.match(/^https:\/\/jobs\.example\.com\/answer\//);
    expect(button).to.not.have.property("value");
  });

  it("are told privately if they may not answer, and change nothing", async () => {
    const { message, read } = await ask("guarded");
    await slack.press(app, message, "Accept", STRANGER);
    await toldTo(STRANGER.id, "may not answer");
    expect(await read()).to.include({ status: "open" });
  });

  it("continue the session of a reply in its thread, once for a mention that comes as two events", async () => {
    const reply = await delivered("weather");
    const ts = slack.nextTime();
    const before = slack.messages.length;
    await say(ANN.id, "And tomorrow &amp; later?", reply, { ts });
    await say(ANN.id, "<@U0BOT> And tomorrow &amp; later?", reply, { ts, type: "app_mention" });
    await eventually(() => slack.messages.length > before, "the reply in the thread");
    await handled();

    const runs = await runsOf("weather");
    expect(runs).to.have.length(2);
    expect(runs[1]?.request).to.include({
      channel: "slack",
      to: `C0OPS:${reply.ts}`,
      message: "And tomorrow & later?",
    });
    expect(slack.messages.at(-1)?.thread).to.equal(reply.ts);
    await say(BOB.id, "!new", reply);
    await handled();
    expect(await runsOf("weather")).to.have.length(2);
  });

  it("are ignored if they are strangers, bots, edits or joins, or write outside of known threads", async () => {
    const reply = await delivered("quiet");
    await say(STRANGER.id, "Do it", reply);
    await say(ANN.id, "Do it", reply, { bot_id: "B1" });
    await say(ANN.id, "Do it", reply, { subtype: "message_changed" });
    await say(ANN.id, "joined", reply, { subtype: "channel_join" });
    await say(ANN.id, "Hello", { ...reply, ts: "1600000000.000100", thread: undefined });
    await handled();
    expect(await runsOf("quiet")).to.have.length(1);
  });

  it("are heard only with Slack's signature of the last five minutes", async () => {
    const body = JSON.stringify({ type: "url_verification", challenge: "abc" });
    const verified = await slack.send(app, body);
    expect([verified.status, await verified.text()]).to.deep.equal([200, "abc"]);
    const old = await slack.send(app, body, { at: new Date(app.clock.now().getTime() - 301_000) });
    const wrong = await slack.send(app, body, { secret: "another secret" });
    const missing = await fetch(`${app.url}/hooks/slack`, { method: "POST", body });
    expect([old.status, wrong.status, missing.status]).to.deep.equal([401, 401, 401]);
    expect((await wrong.json()).detail).to.include("signingSecret");
    const broken = await slack.send(app, "{");
    expect(broken.status).to.equal(400);
    const large = await slack.send(app, `"${"x".repeat(300_000)}"`);
    expect(large.status).to.equal(413);
  });
});
