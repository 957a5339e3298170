import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { type BotMessage, limited, TelegramServer } from "../../support/servers/telegramServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const CHAT = 42;
const ANN = { id: 7, is_bot: false, first_name: "Ann", last_name: "Lee" };
const BOB = { id: 8, is_bot: false, first_name: "Bob" };
const STRANGER = { id: 99, is_bot: false, first_name: "Eve" };
const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };
const FORM = { type: "object", properties: { version: { type: "string" } }, required: ["version"] };

describe("buttons for gates in Telegram", () => {
  let telegram: TelegramServer;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    telegram = await TelegramServer.start();
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      channels: { telegram: { botToken: "123456:secret", apiUrl: telegram.url, allowFrom: ["7", "8"] } },
      notify: [
        { id: "people", on: ["gate.opened"], to: { channel: "telegram", to: String(CHAT) } },
        { id: "copy", on: ["gate.opened"], where: { name: "twice" }, to: { channel: "telegram", to: "43" } },
      ],
    };
    app = await startApp({ config: JSON.stringify(config) });
    worker = await startWorker(app, {}, TIMINGS);
  });
  afterEach(() => {
    telegram.fault = undefined;
  });
  after(async () => {
    await worker.close();
    await app.close();
    await telegram.close();
  });

  /** Opens a gate and waits for its messages. */
  async function ask(key: string, body: object = {}, job: object = {}, copies = 1) {
    const { path, jobId } = await createJob(app, job);
    const gate = `${path}/gates/${key}`;
    const { status } = await app.call("PUT", gate, { title: `Publish ${key}?`, ...body });
    expect(status).to.equal(201);
    const shown = () => telegram.messages.filter(({ text }) => text.includes(`Publish ${key}?`));
    await eventually(() => shown().length === copies, "the messages of the question");
    const [message, ...more] = shown() as [BotMessage, ...BotMessage[]];
    const pressed = { ...message }; // with its buttons, which a phone may show for longer
    return { message, pressed, more, gate, jobId, read: async () => (await app.call("GET", gate)).body };
  }
  const answerTo = async (press: string) => {
    const find = () => telegram.answers.find(({ id }) => id === press);
    await eventually(() => find() !== undefined, "the answer to the press");
    return find()?.text;
  };
  const becomes = (message: BotMessage, words: string) =>
    eventually(() => message.text.includes(words), `the message to say ${words}`);
  const auditOf = async (target: string) =>
    (await app.call("GET", `/api/audit?target=${encodeURIComponent(target)}`)).body.entries;

  it("answer a question, whose message then says who answered what, without buttons", async () => {
    const { message, read, jobId } = await ask("plain");
    const labels = message.buttons.flat().map(({ text }) => text);

    const press = telegram.press(message, "Accept", ANN);

    expect(labels).to.deep.equal(["✅ Accept", "❌ Decline"]);
    expect(await answerTo(press)).to.equal("You have accepted it.");
    expect(await read()).to.include({ status: "answered", action: "accept", answeredBy: "telegram:7 (Ann Lee)" });
    await becomes(message, "Accepted</b> by telegram:7 (Ann Lee)");
    expect(message.buttons).to.deep.equal([]);
    const [entry] = await auditOf(`${jobId}/plain`);
    expect(entry).to.include({ action: "gate.answer", actor: "telegram:7 (Ann Lee)" });
  });

  it("have data that names neither the gate nor its job, at most 64 bytes", async () => {
    const { message, jobId } = await ask("hidden");
    const data = message.buttons.flat().map(({ callback_data }) => callback_data as string);

    expect(new Set(data).size).to.equal(2);
    for (const one of data)
      expect(one)
        .to.match(/^[ad]:[\w-]{22}$/)
        .and.not.include(jobId);
  });

  it("edit every copy once one is pressed, and tell the second person that it is late", async () => {
    const { message, more, read } = await ask("copies", {}, { name: "twice" }, 2);
    const [copy] = more as [BotMessage];

    const presses = [telegram.press(message, "Decline", ANN), telegram.press(copy, "Accept", BOB)];

    const answers = await Promise.all(presses.map(answerTo));
    const { action, answeredBy } = await read();
    const [first, second] = action === "decline" ? answers : answers.toReversed();
    expect(first).to.match(/^You have (declined|accepted) it\.$/);
    expect(second).to.equal(
      `The question was already ${action === "decline" ? "declined" : "accepted"} by ${answeredBy}.`,
    );
    await Promise.all([message, copy].map((one) => becomes(one, `by ${answeredBy}`)));
    expect([message.buttons, copy.buttons]).to.deep.equal([[], []]);
  });

  it("count once if one person presses on two phones, the same button or the other", async () => {
    const { message, read, jobId } = await ask("phones");

    const presses = ["Accept", "Accept", "Decline"].map((label) => telegram.press(message, label, ANN));

    expect(await Promise.all(presses.map(answerTo))).to.deep.equal([
      "You have accepted it.",
      "You have accepted it.",
      "The question was already accepted by telegram:7 (Ann Lee).",
    ]);
    expect(await read()).to.include({ status: "answered", action: "accept" });
    const entries = await auditOf(`${jobId}/phones`);
    expect(entries.map(({ action }: { action: string }) => action)).to.deep.equal(["gate.answer"]);
  });

  it("answer a stranger privately, change nothing, and leave one entry in the audit log", async () => {
    const { message, read, jobId } = await ask("guarded");

    const presses = [telegram.press(message, "Accept", STRANGER), telegram.press(message, "Decline", STRANGER)];

    for (const press of presses) expect(await answerTo(press)).to.equal("You may not answer this.");
    expect(await read()).to.include({ status: "open" });
    expect(message.edits).to.equal(0);
    const entries = await auditOf(`${jobId}/guarded`);
    expect(entries.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).to.deep.equal([
      ["chat.refused", "telegram:99 (Eve)"],
    ]);
  });

  it("are read by one worker at a time, and by the other once that one stops", async () => {
    const before = telegram.conflicts;
    const second = await startWorker(app, {}, { ...TIMINGS, lease: { ...TIMINGS.lease, acquireEveryMs: 50 } });
    try {
      const { message, read } = await ask("handed");
      await worker.close();
      const press = telegram.press(message, "Accept", ANN);

      expect(await answerTo(press)).to.equal("You have accepted it.");
      expect(await read()).to.include({ status: "answered" });
      expect(telegram.conflicts).to.equal(before);
    } finally {
      await second.close();
      worker = await startWorker(app, {}, TIMINGS);
    }
  });

  it("disappear when the question is withdrawn, answered elsewhere, or expires", async () => {
    const withdrawn = await ask("withdrawn");
    const elsewhere = await ask("elsewhere");
    const expiring = await ask("expiring", { expiresAt: new Date(Date.now() + 3_600_000).toISOString() });

    await app.call("DELETE", withdrawn.gate);
    await app.call("POST", `${elsewhere.gate}/answer`, { action: "accept", answeredBy: "Dan" });
    app.clock.advance(3_700_000);

    await becomes(withdrawn.message, "Withdrawn</b>");
    await becomes(elsewhere.message, "Accepted</b> by Dan");
    await becomes(expiring.message, "Expired</b>: it counts as declined");
    const late = [withdrawn, elsewhere, expiring].map(({ pressed }) => telegram.press(pressed, "Accept", ANN));
    expect(await Promise.all(late.map(answerTo))).to.deep.equal([
      "The question was withdrawn.",
      "The question was already accepted by Dan.",
      "The question has expired.",
    ]);
  });

  it("show a changed question again before it can be answered", async () => {
    const { message, pressed, gate, read } = await ask("moving");

    telegram.fault = (method, response) => method === "editMessageText" && limited(response, 60);
    await app.call("PUT", gate, { title: "Publish moving now?" });
    const early = await answerTo(telegram.press(pressed, "Accept", ANN));
    telegram.fault = undefined;
    app.clock.advance(61_000);
    await becomes(message, "The question has changed: <b>Publish moving now?</b>");
    const press = telegram.press(message, "Accept", ANN);

    expect(early).to.equal("The question has changed. Read it again before you answer.");
    expect(await answerTo(press)).to.equal("You have accepted it.");
    expect(await read()).to.include({ status: "answered", title: "Publish moving now?" });
  });

  it("are one that opens the answer page if the form has required fields", async () => {
    const { message } = await ask("form", { requestedSchema: FORM });
    const [button] = message.buttons.flat();

    expect(message.buttons.flat()).to.have.length(1);
    expect(button.text).to.equal("Answer");
    expect(button.url).to.match(/^https:\/\/jobs\.example\.com\/answer\/[\w-]+$/);
  });

  it("are taken once for each update, also if the service sends it again", async () => {
    const { message, read } = await ask("repeated");
    const [[{ callback_data: data }]] = message.buttons;
    const query = { from: ANN, message: { message_id: message.id, chat: { id: CHAT } }, data };

    telegram.push({ callback_query: { ...query, id: "first" } });
    await answerTo("first");
    telegram.repeat({ callback_query: { ...query, id: "again" } });
    await eventually(() => telegram.unconfirmed === 0, "the repeated update to be confirmed");

    expect(await read()).to.include({ status: "answered" });
    expect(telegram.answers.some(({ id }) => id === "again")).to.equal(false);
  });

  it("wait for a service that is away or limits, and lose no press", async () => {
    const { message, read } = await ask("away");
    let refused = 0;
    telegram.fault = (method, response) => {
      if (method === "getUpdates" && ++refused % 2 === 0) return limited(response, 0);
      response.destroy();
      return true;
    };
    const press = telegram.press(message, "Accept", ANN);
    await eventually(() => refused >= 4, "some failed requests");
    telegram.fault = undefined;

    expect(await answerTo(press)).to.equal("You have accepted it.");
    expect(await read()).to.include({ status: "answered" });
    await becomes(message, "Accepted</b>");
  });

  for (const seconds of [10_000_000, 1e300]) {
    it(`wait for at most a day where the service asks for ${seconds} seconds, and delay no other edit`, async () => {
      const [limitedOne, other] = [await ask(`limited${seconds}`), await ask(`other${seconds}`)];
      let edits = 0;
      telegram.fault = (method, response) =>
        method === "editMessageText" && edits++ === 0 && limited(response, seconds);
      const answer = { action: "accept", answeredBy: "Dan" };
      await app.call("POST", `${limitedOne.gate}/answer`, answer);
      await eventually(() => edits > 0, "the limited edit");
      await app.call("POST", `${other.gate}/answer`, answer);

      await becomes(other.message, "Accepted</b> by Dan");
      expect(limitedOne.message.edits).to.equal(0);
      app.clock.advance(86_400_000);
      await becomes(limitedOne.message, "Accepted</b> by Dan");
    });
  }

  it("lose no press and no edit while the service is away for ten minutes", async () => {
    const [pressed, elsewhere] = [await ask("kept"), await ask("shown")];
    let refused = 0;
    telegram.fault = (_, response) => {
      refused++;
      response.destroy();
      return true;
    };
    const press = telegram.press(pressed.message, "Accept", ANN);
    await app.call("POST", `${elsewhere.gate}/answer`, { action: "decline", answeredBy: "Dan" });
    for (let minute = 1; minute <= 10; minute++) {
      const before = refused;
      app.clock.advance(60_000);
      await eventually(() => refused > before, "a failed request");
    }
    telegram.fault = undefined;
    app.clock.advance(300_000); // the longest pause between two tries of an edit

    expect(await answerTo(press)).to.equal("You have accepted it.");
    await becomes(pressed.message, "Accepted</b>");
    await becomes(elsewhere.message, "Declined</b> by Dan");
  });

  it("are edited later if the service fails when the question is answered", async () => {
    const { message, gate } = await ask("edited");
    let refused = 0;
    telegram.fault = (method, response) => method === "editMessageText" && ++refused > 0 && limited(response, 0);
    await app.call("POST", `${gate}/answer`, { action: "decline", answeredBy: "Dan" });
    await eventually(() => refused >= 1, "a refused edit");
    telegram.fault = undefined;
    app.clock.advance(600_000);

    await becomes(message, "Declined</b> by Dan");
  });
});
