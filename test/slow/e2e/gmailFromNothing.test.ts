import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import JSON5 from "json5";
import { runCli, type Service } from "../../cli/service.ts";
import { runInProcess } from "../../support/cli.ts";
import { eventually } from "../../support/eventually.ts";
import { googleAddress, redirectedTo } from "../../support/gmail/googleRedirect.ts";
import { type GoogleServer, startGoogleServer } from "../../support/gmail/googleServer.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";

const CLIENT = { installed: { client_id: "client", client_secret: "secret", project_id: "my-project" } };
const SUBJECTS = ["Invoice 17", "Lunch?", "Server is down"];

/** Runs the commands of the set-up in sequence beside one service, as an operator does who has only `npm start`. */
describe("the Gmail set-up", () => {
  let google: GoogleServer;
  let telegram: ChannelServer;
  let home: string;
  let words: string;
  let service: Service | undefined;
  before(async () => {
    google = await startGoogleServer();
    telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 1 } } }));
    home = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
    writeFileSync(join(home, "client.json"), JSON.stringify(CLIENT));
    write({});
    words = await setUp();
  });
  beforeEach(() => {
    telegram.requests.length = 0;
  });
  after(async () => {
    service?.kill("SIGTERM");
    await service?.ended;
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
  /** The service; the first test that needs it starts it. */
  const started = async () => {
    service ??= runCli("start", redirectedTo(google), home);
    return { service, url: await service.ready() };
  };
  const setUp = async () => {
    const command = "webhooks gmail setup --account ada@example.org --client client.json --no-browser";
    const run = runCli(command, redirectedTo(google), home);
    const shown = () => /^ {2}(https:\S+)$/m.exec(run.printed())?.[1];
    const page = await eventually(shown, "the address of Google's page");
    await fetch(googleAddress(page, google.url));
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    return stdout;
  };
  const status = () => runInProcess(["webhooks", "gmail", "status"], {}, { cwd: home });
  /** Waits for the first listing: the listener ignores earlier mails. */
  const isWell = async () => (await status()).code === 0;
  const arrive = (subject: string) => {
    google.mailbox.add({
      payload: { mimeType: "text/plain", headers: [{ name: "Subject", value: subject }], body: { data: "SGVsbG8" } },
    });
    google.pubsub.publish();
  };
  const sent = () => telegram.requests.filter(({ path }) => path.endsWith("/sendMessage")).map(({ body }) => body);

  it("reports which process has to run while none does, also when another program uses the port", async () => {
    const before = await status();
    mkdirSync(join(home, ".signalbox"));
    writeFileSync(join(home, ".signalbox", "mongodb.port"), new URL(telegram.url).port);
    const after = await status();
    rmSync(join(home, ".signalbox"), { recursive: true });

    for (const { code, stderr } of [before, after]) {
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /^MONGODB_URI is not set, and no instance .* runs in \S+\.signalbox: start one with `npm start`/,
      );
    }
  });

  it("leads to three agent runs, three messages and a good status after three mails", async () => {
    const { service, url } = await started();
    await eventually(isWell, "it to listen");

    for (const subject of SUBJECTS) arrive(subject);
    await eventually(() => sent().length >= SUBJECTS.length, "three messages");
    const { runs } = (await (await fetch(`${url}/api/runs`)).json()) as { runs: Record<string, string>[] };
    const { code, stdout } = await status();

    expect(words).to.match(/\nNext: run `npm start`\. /);
    expect(runs.map(({ name, status }) => [name, status])).to.deep.equal(Array(3).fill(["Gmail", "completed"]));
    for (const subject of SUBJECTS) {
      expect(runs.filter(({ reply }) => reply?.includes(subject))).to.have.length(1);
      expect(sent().filter(({ text }) => text.includes(subject))).to.have.length(1);
    }
    expect(sent().map(({ chat_id }) => String(chat_id))).to.deep.equal(["5", "5", "5"]);
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^Last mail +2\d{3}-/m)
      .and.match(/^Last notification +2\d{3}-/m)
      .and.match(/^No problems\.$/m);
    expect(service.printed()).not.to.match(/Invoice|Lunch|secret|refresh-of|token-\d/);
  });

  it("takes effect in a running service after the signal that it names", async () => {
    const { service } = await started();
    write({});
    service.kill("SIGHUP");
    await service.prints(/The changed configuration is in effect/);
    rmSync(join(home, "gmail-credentials.json"));
    write({});

    const words = await setUp();
    const wasWell = await isWell();
    const [, command = ""] = /`npx signalbox (\w+)`, so that the instance that runs here listens/.exec(words) ?? [];
    await runInProcess([command], {}, { cwd: home });
    await eventually(isWell, "it to listen");
    arrive("Invoice 18");
    await eventually(() => sent().length >= 1, "the message");

    expect(wasWell).to.equal(false);
    expect(command).to.equal("reload");
    expect(sent()[0]?.text).to.include("Invoice 18");
  });
});
