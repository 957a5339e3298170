import { expect } from "chai";
import { deleteEndedDeliveries } from "../../../src/models/retention/deleteEndedRuns.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { hangs, type ModelServer, startModelServer } from "../../support/servers/modelServer.ts";
import { type BotMessage, TelegramServer } from "../../support/servers/telegramServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const ANN = { id: 7, is_bot: false, first_name: "Ann" };
const OWNER = { id: 8, is_bot: false, first_name: "Olga" };
const STRANGER = { id: 99, is_bot: false, first_name: "Eve" };
const HOOK_TOKEN = "a-hook-token-of-length";
const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };

describe("answers to replies in Telegram", () => {
  let telegram: TelegramServer;
  let model: ModelServer;
  let app: TestApp;
  let worker: TestWorker;
  const configOf = (inbox?: object) => ({
    channels: {
      telegram: { botToken: "123456:secret", apiUrl: telegram.url, allowFrom: ["7", "8"], owners: ["8"], inbox },
    },
    hooks: {
      enabled: true,
      token: HOOK_TOKEN,
      allowRequestSessionKey: true,
      mappings: [{ id: "chat", match: { path: "chat" }, messageTemplate: "Chat: {{text}}", deliver: false }],
    },
    agents: {
      defaults: { runner: "openai", model: "m", heartbeat: { every: "1d" } },
      runners: { openai: { baseUrl: model.url } },
    },
  });
  before(async () => {
    telegram = await TelegramServer.start();
    model = await startModelServer();
    app = await startApp({ config: JSON.stringify(configOf()) });
    worker = await startWorker(app, {}, TIMINGS);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await model.close();
    await telegram.close();
  });

  const prompts = (): string[] => model.requests.map(({ body }) => body.messages.at(-1).content);
  const runsOf = (sessionKey: string) =>
    app.stores.runs.collection.native.find({ sessionKey }).sort({ order: 1 }).toArray();
  /** Waits for one more message of the bot in a chat than before, and returns it. */
  async function nextMessage(act: () => unknown, chat = 42): Promise<BotMessage> {
    const inChat = () => telegram.messages.filter((one) => one.chat === chat);
    const before = inChat().length;
    await act();
    await eventually(() => inChat().length > before, "a message of the bot");
    return inChat()[before] as BotMessage;
  }
  /** Waits until a message is recorded as sent: its session is known only then. */
  const recorded = (message: BotMessage) =>
    eventually(async () => {
      const sent = { state: "sent", "parts.id": String(message.id) } as const;
      return (await app.stores.deliveries.collection.native.countDocuments(sent)) > 0 && message;
    }, "the delivery to be recorded");
  /** Starts a run in a session, whose reply goes to a chat. */
  const delivered = async (sessionKey: string, to = "42") => {
    // A turn of the main session would take an answer that a test has scripted.
    const body = { message: "Begin", sessionKey, channel: "telegram", to, wakeMode: "next-heartbeat" };
    const headers = { Authorization: `Bearer ${HOOK_TOKEN}` };
    const send = () => app.call("POST", "/hooks/agent", body, headers);
    return recorded(await nextMessage(send, Number(to.split(":", 1)[0])));
  };
  /** Waits until every update of the service was handled. */
  const handled = () =>
    eventually(async () => {
      const open = await app.stores.chatUpdates.collection.native.countDocuments({ open: true });
      return telegram.unconfirmed === 0 && open === 0;
    }, "all updates to be handled");

  it("are runs in the session of the reply that they quote, fenced with the sender's name", async () => {
    const reply = await delivered("weather");

    const again = await recorded(await nextMessage(() => telegram.say("And tomorrow?", { from: ANN, quotes: reply })));

    const [, second] = await runsOf("weather");
    expect(second).to.include({ status: "completed", name: "telegram:7 (Ann)" });
    expect(second?.request).to.include({ channel: "telegram", to: "42", message: "And tomorrow?" });
    expect(prompts().at(-1))
      .to.match(/telegram 7 Ann[\s\S]+And tomorrow\?/)
      .and.not.equal("And tomorrow?");
    const third = await nextMessage(() => telegram.say("And then?", { from: ANN, quotes: again }));
    expect(third.chat).to.equal(42);
    expect(await runsOf("weather")).to.have.length(3);
  });

  it("reach the agent as they are if an owner has written them, but not if the owner forwards them", async () => {
    const reply = await delivered("owned");

    await nextMessage(() => telegram.say("Do it", { from: OWNER, quotes: reply }));
    await nextMessage(() =>
      telegram.say("Passed on", { from: OWNER, quotes: reply, forward_origin: { type: "user" } }),
    );

    const [plain, forwarded] = prompts().slice(-2);
    expect(plain).to.equal("Do it");
    expect(forwarded).to.include("Passed on").and.not.equal("Passed on");
  });

  it("continue the session of a topic without quoting", async () => {
    const reply = await delivered("topical", "-100123:5");
    const topic = { chat: reply.chat, message_thread_id: 5, is_topic_message: true };

    await nextMessage(() => telegram.say("More", { from: ANN, ...topic }), reply.chat);

    const [, second] = await runsOf("topical");
    expect(second?.request).to.include({ to: "-100123:5", message: "More" });
  });

  it("are ignored from strangers and bots, as edits, joins and messages that answer nothing", async () => {
    const reply = await delivered("guarded");
    const before = telegram.messages.length;

    telegram.say("Let me in", { from: STRANGER, quotes: reply });
    telegram.say("Beep", { from: { ...ANN, is_bot: true }, quotes: reply });
    telegram.say("Nobody asked", { from: ANN });
    telegram.say("/status", { from: ANN });
    telegram.push({ edited_message: { message_id: 1, from: ANN, chat: { id: 42 }, text: "Edited" } });
    telegram.push({ message: { message_id: 2, from: ANN, chat: { id: 42 }, new_chat_members: [ANN] } });
    await handled();

    expect(await runsOf("guarded")).to.have.length(1);
    expect(telegram.messages).to.have.length(before);
    const stored = await app.stores.chatUpdates.collection.native.find({}).toArray();
    expect(JSON.stringify(stored)).to.not.include("Let me in");
  });

  it("are taken once, also if the service sends them again", async () => {
    const reply = await delivered("once");
    const quoted = { reply_to_message: { message_id: reply.id, chat: { id: 42 } } };
    const message = { message_id: 9, from: ANN, chat: { id: 42 }, text: "Once", ...quoted };

    await nextMessage(() => telegram.push({ message }));
    telegram.repeat({ message });
    await handled();

    expect(await runsOf("once")).to.have.length(2);
  });

  it("queue behind a running turn, which /status shows and /stop cancels", async () => {
    const reply = await delivered("busy", "50");
    model.script(hangs());
    telegram.say("Take long", { from: ANN, chat: 50, quotes: reply });
    await eventually(() => model.requests.length === 1, "the turn to run");

    telegram.say("Then this", { from: ANN, chat: 50, quotes: reply });
    await handled();
    const status = await nextMessage(() => telegram.say("!status", { from: ANN, chat: 50, quotes: reply }), 50);
    telegram.say("/stop", { from: ANN, chat: 50, quotes: reply });

    expect(status.text).to.match(/^telegram:7 \(Ann\) is running since .+ UTC\. 1 run waits\.$/);
    await eventually(async () => (await runsOf("busy"))[2]?.status === "completed", "the waiting run");
    const [, stopped] = await runsOf("busy");
    expect([stopped?.status, stopped?.error?.code]).to.deep.equal(["failed", "cancelled"]);
    await eventually(() => telegram.messages.some(({ text }) => text === "Stopped."), "the answer to /stop");
  });

  it("begin a fresh session after /new, which a late reply of the former one does not end", async () => {
    const topic = { chat: -100777, message_thread_id: 6, is_topic_message: true };
    await delivered("former", "-100777:6");

    const begun = await nextMessage(() => telegram.say("/new@signalbox_bot", { from: ANN, ...topic }), topic.chat);
    await delivered("former", "-100777:6");
    await nextMessage(() => telegram.say("Hello", { from: ANN, ...topic }), topic.chat);

    expect(begun.text).to.include("A new session begins.");
    expect(await runsOf("former")).to.have.length(2);
    const fresh = await app.stores.runs.collection.native.findOne({ "request.message": "Hello" });
    expect(fresh?.sessionKey).to.match(/^chat:telegram:[\da-f-]{36}$/);
  });

  /** Deletes the ended deliveries, as the retention does, until a session has none left. */
  const deleteDeliveries = (sessionKey: string) =>
    eventually(async () => {
      await deleteEndedDeliveries(app.stores, app.clock.now(), app.clock.now());
      return (await app.stores.deliveries.collection.native.countDocuments({ sessionKey })) === 0;
    }, "the deletion of the delivery");

  it("are known for 30 days, also if their deliveries are deleted earlier", async () => {
    const reply = await delivered("kept", "60");
    app.clock.advance(8 * 86_400_000);
    await deleteDeliveries("kept");

    await nextMessage(() => telegram.say("Still there?", { from: ANN, chat: 60, quotes: reply }), 60);

    expect(await runsOf("kept")).to.have.length(2);
    const [link] = await app.database.collections.threadLinks.find({ sessionKey: "kept" }).toArray();
    expect(Object.keys(link ?? {})).to.have.members(["_id", "refs", "sessionKey", "order", "createdAt"]);
  });

  it("are forgotten after 30 days", async () => {
    const reply = await delivered("old");
    app.clock.advance(23 * 86_400_000);
    await deleteDeliveries("old");
    app.clock.advance(8 * 86_400_000);

    telegram.say("Still there?", { from: ANN, quotes: reply });
    await handled();

    expect(await runsOf("old")).to.have.length(1);
  });

  describe("with an inbox", () => {
    const restart = async (inbox: object, list: object = {}) => {
      await worker.close();
      const config = structuredClone(app.config) as unknown as { channels: { telegram: object }; agents: object };
      Object.assign(config.agents, { list });
      Object.assign(config.channels.telegram, { inbox });
      worker = await startWorker({ ...app, config: config as unknown as TestApp["config"] }, {}, TIMINGS);
    };

    it("write to its session if they answer nothing", async () => {
      await restart({ sessionKey: "team" });

      await nextMessage(() => telegram.say("Anybody?", { from: ANN }));

      const [run] = await runsOf("team");
      expect(run?.request).to.include({ message: "Anybody?", channel: "telegram", to: "42" });
    });

    it("begin a session of its agent, which a session of another agent stays without", async () => {
      const reply = await delivered("elsewhere");
      await restart({ sessionKey: "crew", agentId: "helper" }, { helper: { model: "helper-1" } });

      await nextMessage(() => telegram.say("Who is there?", { from: ANN }));
      await nextMessage(() => telegram.say("And here?", { from: ANN, quotes: reply }));

      const [[first], [, second]] = [await runsOf("crew"), await runsOf("elsewhere")];
      expect(first?.request).to.include({ message: "Who is there?", agentId: "helper" });
      expect(second?.request).to.include({ message: "And here?" }).and.not.have.property("agentId");
      expect(model.requests.slice(-2).map(({ body }) => body.model)).to.deep.equal(["helper-1", "m"]);
    });

    it("go through its mapping if they answer nothing", async () => {
      await restart({ mapping: "chat" });

      telegram.say("Anybody else?", { from: ANN });
      const find = () => app.stores.runs.collection.native.findOne({ "mapped.mapping": "chat", status: "completed" });
      await eventually(find, "the run of the mapping");

      expect((await find())?.request?.message).to.equal("Chat: Anybody else?");
    });
  });
});
