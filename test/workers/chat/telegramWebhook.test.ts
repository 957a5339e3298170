import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { type BotMessage, limited, TelegramServer } from "../../support/servers/telegramServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const OWN = "https://jobs.example.com/hooks/telegram";
const FOREIGN = "https://bots.example.com/hook";

describe("updates of Telegram", () => {
  let telegram: TelegramServer;
  let app: TestApp;
  const workers: TestWorker[] = [];
  beforeEach(async () => {
    telegram = await TelegramServer.start();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    await app.close();
    await telegram.close();
  });

  async function start(inbound: "polling" | "webhook") {
    const bot = { botToken: "123456:secret", apiUrl: telegram.url, allowFrom: ["7"], inbound };
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      channels: { telegram: bot },
      notify: [{ id: "people", on: ["gate.opened"], to: { channel: "telegram", to: "42" } }],
    };
    app = await startApp({ config: JSON.stringify(config) });
    telegram.webhookOrigin = app.url;
  }
  const startOne = async () => void workers.push(await startWorker(app, {}, FAST_TIMINGS));
  const check = async () => (await app.call("POST", "/api/channels/telegram/check")).body;
  async function ask(): Promise<BotMessage> {
    const { path } = await createJob(app);
    await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
    return eventually(() => telegram.messages.find(({ text }) => text.includes("Publish?")), "the question");
  }
  /** Asks by a worker that stops after that. */
  async function askBefore() {
    await startOne();
    const message = await ask();
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    return message;
  }
  const answered = (press: string) =>
    eventually(() => telegram.answers.find(({ id }) => id === press)?.text, "the answer to the press");
  const acts = () => app.stores.chatUpdates.collection.native.countDocuments({});

  it("arrive at a webhook that the worker sets, with its secret, each once", async () => {
    await start("webhook");
    await startOne();
    const message = await ask();
    await eventually(() => telegram.webhook === OWN, "the webhook");

    const press = telegram.press(message, "Accept");

    expect(await answered(press)).to.equal("You have accepted it.");
    expect(telegram.reads).to.equal(0);
    const update = { update_id: 1, message: { message_id: 1, from: { id: 7 }, chat: { id: 42 }, text: "Hello" } };
    const before = await acts();
    const twice = [
      await telegram.sendUpdate(update, telegram.secret),
      await telegram.sendUpdate(update, telegram.secret),
    ];
    expect(twice.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(await acts()).to.equal(before + 1);
    const detail = "sends as @signalbox_bot; with buttons and replies for 1 person";
    expect(await check()).to.include({ ok: true, detail });
  });

  it("are refused at the webhook without the secret", async () => {
    await start("webhook");
    telegram.webhook = OWN;
    const update = { update_id: 1, message: { message_id: 1, from: { id: 7 }, chat: { id: 42 }, text: "Hello" } };

    const wrong = await telegram.sendUpdate(update, "a-wrong-secret");
    const missing = await fetch(`${app.url}/hooks/telegram`, { method: "POST", body: JSON.stringify(update) });

    expect([wrong.status, missing.status]).to.deep.equal([401, 401]);
    expect(await acts()).to.equal(0);
  });

  it("are asked for again once the configuration says so, and none is lost", async () => {
    await start("polling");
    const message = await askBefore();
    telegram.webhook = OWN; // as it was set before
    telegram.webhookOrigin = "http://127.0.0.1:1"; // nobody takes them any more
    const press = telegram.press(message, "Accept");

    await startOne();

    expect(await answered(press)).to.equal("You have accepted it.");
    expect(telegram.webhook).to.equal("");
  });

  it("stay with a webhook of another program, which the log and the check of the channel say", async () => {
    await start("polling");
    telegram.webhook = FOREIGN;
    await startOne();

    const { detail } = await check();
    await eventually(() => workers[0]?.log.some(({ reason }) => String(reason).includes("409")), "the log");

    expect(detail).to.include("a webhook is set for this bot");
    expect(telegram.webhook).to.equal(FOREIGN);
  });

  for (const seconds of [10_000_000, 1e300]) {
    it(`are not asked for again at once where Telegram asks for a pause of ${seconds} seconds`, async () => {
      await start("polling");
      let requests = 0;
      telegram.fault = (method, response) => method === "getUpdates" && ++requests > 0 && limited(response, seconds);
      await startOne();
      await eventually(() => requests > 0, "the refused request");
      for (let i = 0; i < 3; i++) await ask();

      expect(requests).to.equal(1);
    });
  }

  it("are not asked for without a pause if the server does not wait for one, and none is lost", async () => {
    await start("polling");
    let requests = 0;
    const answers = [[], [{}], [{ update_id: "1" }], [{ update_id: 5 }]];
    telegram.fault = (method, response) => {
      if (method !== "getUpdates") return false;
      response.end(JSON.stringify({ ok: true, result: answers[requests++ % answers.length] }));
      return true;
    };
    await startOne();
    const startedAt = performance.now();
    const message = await ask();
    await eventually(() => requests > 2, "some requests");
    const seconds = (performance.now() - startedAt) / 1_000;
    telegram.fault = undefined;

    expect(requests / seconds).to.be.below(20);
    expect(await answered(telegram.press(message, "Accept"))).to.equal("You have accepted it.");
  });

  it("are tried again while another program reads them, which the check of the channel says", async () => {
    await start("polling");
    telegram.fault = (method, response) => {
      if (method !== "getUpdates") return false;
      response.writeHead(409, { "Content-Type": "application/json" });
      response.end(
        JSON.stringify({ ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates" }),
      );
      return true;
    };
    await startOne();
    const message = await ask();
    const faulty = await eventually(async () => {
      const found = await check();
      return found.ok ? undefined : found;
    }, "the fault of the channel");
    const press = telegram.press(message, "Accept");
    telegram.fault = undefined;

    expect(faulty.detail).to.include("which do not arrive: Telegram answered 409: another program reads the updates");
    expect(await answered(press)).to.equal("You have accepted it.");
    await eventually(async () => (await check()).ok, "the channel to be well again");
  });
});
