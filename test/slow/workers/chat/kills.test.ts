import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { createJob } from "../../../support/factories.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { holdInsert } from "../../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../../support/servers/servers.ts";
import { type BotMessage, TelegramServer } from "../../../support/servers/telegramServer.ts";

/** Real worker processes that are killed in the middle of a press of a button. */
describe("a press of a button, whose worker is killed", () => {
  useOwnMongod();
  let dir: string;
  let telegram: TelegramServer;
  let app: TestApp;
  let env: Record<string, string>;
  const workers: Service[] = [];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-kills-"));
    telegram = await TelegramServer.start();
    const prefix = `kills-${randomUUID().slice(0, 8)}`;
    const config = JSON.stringify({
      redis: { prefix },
      channels: { telegram: { botToken: "123456:secret", apiUrl: telegram.url, allowFrom: ["7"] } },
      notify: [{ id: "people", on: ["gate.opened"], to: { channel: "telegram", to: "42" } }],
    });
    writeFileSync(join(dir, "signalbox.json5"), config);
    app = await startApp({ config, prefix });
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop("SIGKILL")));
    await app.close();
    await telegram.close();
    rmSync(dir, { recursive: true });
  });

  async function startWorker(): Promise<Service> {
    const worker = startProcess("test/support/processes/worker.ts", env);
    workers.push(worker);
    await worker.ready;
    return worker;
  }
  async function ask(): Promise<{ message: BotMessage; jobId: string; gate: string }> {
    const { path, jobId } = await createJob(app);
    const gate = `${path}/gates/publish`;
    await app.call("PUT", gate, { title: "Publish?" });
    const find = () => telegram.messages.find(({ text }) => text.includes("Publish?"));
    return { message: await eventually(find, "the message of the question"), jobId, gate };
  }
  /** Checks that the press has had its whole effect, once. */
  async function expectOneEffect({ message, jobId, gate }: Awaited<ReturnType<typeof ask>>, press: string) {
    await eventually(
      () => message.text.includes("Accepted</b> by telegram:7 (Ann)"),
      "the message to say who answered",
    );
    await eventually(() => telegram.answers.some(({ id }) => id === press), "the answer to the press");
    expect(telegram.answers).to.deep.equal([{ id: press, text: "You have accepted it." }]);
    expect((await app.call("GET", gate)).body).to.include({ status: "answered", answeredBy: "telegram:7 (Ann)" });
    const { body } = await app.call("GET", `/api/audit?target=${encodeURIComponent(`${jobId}/publish`)}`);
    const entries = body.entries.filter(({ action }: { action: string }) => action === "gate.answer");
    expect(entries).to.have.length(1);
    expect(message.edits).to.equal(1);
  }

  it("before its record, has its effect by another worker, because Telegram keeps it", async () => {
    const first = await startWorker();
    const asked = await ask();
    const { chatUpdates } = app.database.collections;
    const isHeld = await holdInsert(chatUpdates);
    const press = telegram.press(asked.message, "Accept");
    await isHeld();
    await first.stop("SIGKILL");
    const stored = await chatUpdates.countDocuments();

    await startWorker();

    expect(stored).to.equal(0);
    await expectOneEffect(asked, press);
  });

  it("between the answer and the edit, shows the answer by another worker, and the person gets it once", async () => {
    const first = await startWorker();
    const asked = await ask();
    let held = 0;
    telegram.fault = (method) => method === "editMessageText" && ++held > 0;
    const press = telegram.press(asked.message, "Accept");
    await eventually(() => held > 0, "the edit to wait");
    await first.stop("SIGKILL");
    const { status } = (await app.call("GET", asked.gate)).body;
    telegram.fault = undefined;

    await startWorker();

    expect(status).to.equal("answered");
    await expectOneEffect(asked, press);
  });

  it("has its effect once, by one of two workers, if the one that reads is killed", async () => {
    const reader = await startWorker();
    await eventually(() => telegram.reads > 0, "a read of updates");
    await startWorker();
    const asked = await ask();
    await reader.stop("SIGKILL");
    const press = telegram.press(asked.message, "Accept");

    await expectOneEffect(asked, press);
  });
});
