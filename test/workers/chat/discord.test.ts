import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { type DiscordMessage, DiscordServer } from "../../support/servers/discordServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const ANN = { id: "80351110224678912", username: "ann", global_name: "Ann Lee" };
const BOB = { id: "80351110224678913", username: "bob" };
const STRANGER = { id: "80351110224678999", username: "eve" };
const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };
const FORM = { type: "object", properties: { version: { type: "string" } }, required: ["version"] };

describe("buttons for gates in Discord", () => {
  let discord: DiscordServer;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    discord = await DiscordServer.start();
    const { url: apiUrl, publicKey } = discord;
    const to = (id: string) => ({ channel: "discord", to: id });
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      channels: { discord: { botToken: "b", apiUrl, publicKey, allowFrom: [ANN.id, BOB.id] } },
      notify: [
        { id: "people", on: ["gate.opened"], to: to("1199999999999999999") },
        { id: "copy", on: ["gate.opened"], where: { name: "twice" }, to: to("1199999999999999998") },
      ],
    };
    app = await startApp({ config: JSON.stringify(config) });
    worker = await startWorker(app, {}, TIMINGS);
  });
  afterEach(() => {
    discord.fault = undefined;
  });
  after(async () => {
    await worker.close();
    await app.close();
    await discord.close();
  });

  async function ask(key: string, body: object = {}, job: object = {}, copies = 1) {
    const { path, jobId } = await createJob(app, job);
    const gate = `${path}/gates/${key}`;
    await app.call("PUT", gate, { title: `Publish ${key}?`, ...body });
    const shown = () => discord.messages.filter(({ text }) => text.includes(`Publish ${key}?`));
    await eventually(() => shown().length === copies, "the messages of the question");
    const [message, ...more] = shown() as [DiscordMessage, ...DiscordMessage[]];
    return {
      message,
      pressed: { ...message },
      more,
      gate,
      jobId,
      read: async () => (await app.call("GET", gate)).body,
    };
  }
  const answerTo = async (token: string) => {
    const find = () => discord.ephemeral.find((one) => one.token === token);
    await eventually(() => find() !== undefined, "the answer to the press");
    return find()?.text;
  };
  const becomes = (message: DiscordMessage, words: string) =>
    eventually(() => message.text.includes(words), `the message to say ${words}`);
  const check = async () => (await app.call("POST", "/api/channels/discord/check")).body;

  it("answer a question, whose message then says who answered what, without buttons", async () => {
    const { message, read } = await ask("plain");
    expect(message.buttons.map(({ label }) => label)).to.deep.equal(["✅ Accept", "❌ Decline"]);
    for (const { custom_id } of message.buttons) expect(custom_id).to.match(/^[ad]:[\w-]{22}$/);

    const { response, token } = await discord.press(app, message, "Accept", ANN);

    expect([response.status, await response.json()]).to.deep.equal([200, { type: 6 }]);
    expect(await answerTo(token)).to.equal("You have accepted it.");
    await becomes(message, `by discord:${ANN.id} (Ann Lee)`);
    expect(message.buttons).to.deep.equal([]);
    expect(await read()).to.include({ status: "answered", answeredBy: `discord:${ANN.id} (Ann Lee)` });
  });

  it("edit every copy, and say to a late person who was first", async () => {
    const { message, pressed, more } = await ask("copies", {}, { name: "twice" }, 2);

    await discord.press(app, message, "Decline", BOB, true);
    await Promise.all([message, ...more].map((one) => becomes(one, `**Declined** by discord:${BOB.id} (bob)`)));
    const { token } = await discord.press(app, pressed, "Accept", ANN);

    expect(await answerTo(token)).to.include(`was already declined by discord:${BOB.id}`);
    expect(more[0]?.buttons).to.deep.equal([]);
  });

  it("are one that opens the answer page if the form has required fields", async () => {
    const { message } = await ask("form", { requestedSchema: FORM });

    const [button, ...more] = message.buttons;
    expect(more).to.deep.equal([]);
    expect(button).to.include({ style: 5, label: "Answer" }).and.not.have.property("custom_id");
    expect(button.url).to.match(/^https:\/\/jobs\.example\.com\/answer\//);
  });

  it("answer a stranger privately, change nothing, and leave an entry in the audit log", async () => {
    const { message, read, jobId } = await ask("guarded");

    const { token } = await discord.press(app, message, "Accept", STRANGER);

    expect(await answerTo(token)).to.equal("You may not answer this.");
    expect(await read()).to.include({ status: "open" });
    const { body } = await app.call("GET", `/api/audit?target=${encodeURIComponent(`${jobId}/guarded`)}`);
    expect(body.entries[0]).to.include({ action: "chat.refused", actor: `discord:${STRANGER.id} (eve)` });
  });

  it("are taken once for each interaction, and their answer waits while Discord is away", async () => {
    const { message } = await ask("away");
    let refused = 0;
    discord.fault = (_, path, response) => {
      if (!path.startsWith("/webhooks")) return false;
      refused++;
      response.destroy();
      return true;
    };

    const { interaction, token } = await discord.press(app, message, "Accept", ANN);
    await discord.send(app, interaction);
    await eventually(() => refused > 0, "a failed answer");
    discord.fault = undefined;

    expect(await answerTo(token)).to.equal("You have accepted it.");
    expect(discord.ephemeral.filter((one) => one.token === token)).to.have.length(1);
  });

  it("are heard only with Discord's signature of the last five minutes", async () => {
    const ping = { id: "1", type: 1, token: "t", application_id: "6" };

    const answered = await discord.send(app, ping);
    const refused = await Promise.all([
      discord.send(app, ping, { at: new Date(app.clock.now().getTime() - 301_000) }),
      discord.send(app, ping, { signed: "something else" }),
      fetch(`${app.url}/hooks/discord`, { method: "POST", body: JSON.stringify(ping) }),
    ]);
    const broken = await Promise.all(["{", "null"].map((text) => discord.send(app, text)));
    const other = await discord.send(app, { ...ping, type: 3, data: { custom_id: "a-button-of-somebody-else" } });

    expect([answered.status, await answered.json()]).to.deep.equal([200, { type: 1 }]);
    expect(refused.map(({ status }) => status)).to.deep.equal([401, 401, 401]);
    expect(broken.map(({ status }) => status)).to.deep.equal([400, 400]);
    expect(await other.json()).to.deep.equal({ type: 6 });
  });

  it("are checked with the channel, which says what is missing", async () => {
    const missing = await check();
    discord.endpoint = "https://jobs.example.com/hooks/discord";
    const complete = await check();

    expect(missing).to.include({ ok: false });
    expect(missing.detail).to.include(
      "set the Interactions Endpoint URL of the application to https://jobs.example.com/hooks/discord",
    );
    expect(complete).to.deep.include({ ok: true, detail: "posts as signalbox; with buttons for 2 people" });
  });
});
