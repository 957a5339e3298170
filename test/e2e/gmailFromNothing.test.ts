import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import JSON5 from "json5";
import { runCli, type Service } from "../cli/service.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/channelServer.ts";
import { eventually } from "../support/eventually.ts";
import { type GoogleServer, startGoogleServer } from "../support/googleServer.ts";

const CLIENT = { installed: { client_id: "client", client_secret: "secret", project_id: "my-project" } };
const SUBJECTS = ["Invoice 17", "Lunch?", "Server is down"];

/** What somebody does who has `npm start` and nothing else: the commands, one after the other, as processes. */
describe("Gmail, from no set-up to the chat", function () {
  this.timeout(90_000);
  let google: GoogleServer;
  let telegram: ChannelServer;
  let home: string;
  let services: Service[];
  beforeEach(async () => {
    services = [];
    google = await startGoogleServer();
    telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 1 } } }));
    home = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
    writeFileSync(join(home, "client.json"), JSON.stringify(CLIENT));
    write(withGoogle());
  });
  afterEach(async () => {
    for (const service of services) {
      service.kill("SIGTERM");
      await service.ended;
    }
    await google.close();
    await telegram.close();
    rmSync(home, { recursive: true });
  });

  const write = (hooks: object) =>
    writeFileSync(
      join(home, "signalbox.json5"),
      JSON5.stringify({
        hooks,
        channels: { telegram: { apiUrl: telegram.url, botToken: "1:t" } },
        session: { main: { channel: "telegram", to: "5" } },
        agents: { defaults: { heartbeat: { every: "1d" } } },
      }),
    );
  /** Not Google itself, but nothing of the mailbox. */
  const withGoogle = () => ({
    gmail: { apiUrl: google.url, pubsubUrl: google.url, tokenUrl: google.tokenUrl, consentUrl: google.consentUrl },
  });
  const run = (command: string) => {
    const service = runCli(command, {}, home);
    services.push(service);
    return service;
  };
  const setUp = async () => {
    const service = run("webhooks gmail setup --account ada@example.org --client client.json --no-browser");
    const shown = () => /^ {2}(http:\S+)$/m.exec(service.printed())?.[1];
    await fetch(await eventually(shown, "the address of Google's page"));
    const { code, stdout, stderr } = await service.ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    return stdout;
  };
  /** Once the first listing is made: what came before is none of the listener's. */
  const isWell = async () => (await run("webhooks gmail status").ended).code === 0;
  const arrive = (subject: string) => {
    google.mailbox.add({
      payload: { mimeType: "text/plain", headers: [{ name: "Subject", value: subject }], body: { data: "SGVsbG8" } },
    });
    google.pubsub.publish();
  };
  const sent = () => telegram.requests.filter(({ path }) => path.endsWith("/sendMessage")).map(({ body }) => body);

  it("set-up, start, three mails: three runs of the agent, three messages, and a status that says that all is well", async () => {
    const words = await setUp();
    const service = run("start");
    const url = await service.ready();
    await eventually(isWell, "it to listen", 30_000);

    for (const subject of SUBJECTS) arrive(subject);
    await eventually(() => sent().length >= SUBJECTS.length, "three messages", 30_000);
    const { runs } = (await (await fetch(`${url}/api/runs`)).json()) as { runs: Record<string, string>[] };
    const status = await run("webhooks gmail status").ended;

    expect(words).to.match(/\nNext: `npm start`\. /);
    expect(runs.map(({ name, status }) => [name, status])).to.deep.equal(Array(3).fill(["Gmail", "completed"]));
    for (const subject of SUBJECTS) {
      expect(runs.filter(({ reply }) => reply?.includes(subject))).to.have.length(1);
      expect(sent().filter(({ text }) => text.includes(subject))).to.have.length(1);
    }
    expect(sent().map(({ chat_id }) => String(chat_id))).to.deep.equal(["5", "5", "5"]);
    expect(status.code).to.equal(0);
    expect(status.stdout)
      .to.match(/^Last mail +2\d{3}-/m)
      .and.match(/^Last notice +2\d{3}-/m)
      .and.match(/^All is well\.$/m);
    expect(service.printed()).not.to.match(/Invoice|Lunch|secret|refresh-of|token-\d/);
  });

  it("set-up while the service runs: it listens when it has got the signal that the set-up names", async () => {
    write({});
    const service = run("start");
    await service.ready();
    write(withGoogle());

    const words = await setUp();
    const [, pid = ""] = /`kill -HUP (\d+)` has the Signalbox that runs here listen/.exec(words) ?? [];
    process.kill(Number(pid), "SIGHUP");
    await eventually(isWell, "it to listen", 30_000);
    arrive("Invoice 17");
    await eventually(() => sent().length >= 1, "the message", 30_000);

    expect(Number(pid)).to.equal(service.pid);
    expect(sent()[0]?.text).to.include("Invoice 17");
  });

  it("status says who has to run while nobody does, also where somebody else has the port by now", async () => {
    await setUp();
    const before = await run("webhooks gmail status").ended;
    mkdirSync(join(home, ".signalbox"));
    writeFileSync(join(home, ".signalbox", "mongodb.port"), new URL(telegram.url).port);
    const after = await run("webhooks gmail status").ended;

    for (const { code, stderr } of [before, after]) {
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^MONGODB_URI is not set, and no Signalbox .* runs in \S+\.signalbox: start it with `npm start`/,
      );
    }
  });
});
