import { chmodSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { freeze } from "../../support/freeze.ts";
import {
  CONSENT,
  type GmailFixture,
  runGmailProcess,
  runGmailProcessWithShortLease,
  startGmailFixture,
} from "../../support/gmail/gmailFixture.ts";
import type { Service } from "../../support/process.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

/** Real processes of `signalbox webhooks gmail run`. */
describe("the Gmail process", () => {
  let fixture: GmailFixture;
  let telegram: ChannelServer;
  let running: Service[];
  let worker: TestWorker | undefined;

  beforeEach(async () => {
    running = [];
    telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 1 } } }));
    fixture = await startGmailFixture({
      rest: {
        channels: { telegram: { apiUrl: telegram.url, botToken: "1:t" } },
        session: { main: { channel: "telegram", to: "5" } },
        agents: { defaults: { heartbeat: { every: "1d" } } },
      },
    });
  });
  afterEach(async () => {
    await worker?.close();
    worker = undefined;
    for (const { child, stop } of running)
      if (child.exitCode === null && child.signalCode === null) await stop("SIGKILL");
    await fixture.close();
    await telegram.close();
  });

  const run = async (service: Service) => {
    running.push(service);
    await service.ready;
    return service;
  };
  const listen = () => run(runGmailProcess(fixture.env));
  /** Listens with a short lease, so that tests wait only for the end of this lease. */
  const listenWithShortLease = () => run(runGmailProcessWithShortLease(fixture.env));
  const lease = async () => (await fixture.app.stores.gmailMailboxes.find("ada@example.org"))?.lease;
  const holder = async () => Number((await lease())?.holder.split(":").at(-1));
  const heldBy = (service: Service) =>
    eventually(async () => (await holder()) === service.child.pid, `process ${service.child.pid} to listen`);
  const arrive = (subject: string) => {
    const id = fixture.google.mailbox.add({
      payload: { mimeType: "text/plain", headers: [{ name: "Subject", value: subject }], body: { data: "SGVsbG8" } },
    });
    fixture.google.pubsub.publish();
    return id;
  };
  const begun = () =>
    eventually(
      async () => (await fixture.app.stores.gmailMailboxes.find("ada@example.org"))?.listedAt,
      "the first listing",
    );

  it("turns three mails into three agent runs and three messages", async () => {
    worker = await startWorker(fixture.app);
    const listener = await listen();
    await begun();

    const subjects = ["Invoice 17", "Lunch?", "Server is down"];
    for (const subject of subjects) arrive(subject);
    const sent = () => telegram.requests.filter(({ path }) => path.endsWith("/sendMessage")).map(({ body }) => body);
    await eventually(() => sent().length >= 3, "three messages");
    await fixture.isCaughtUp();
    const code = await listener.stop();

    const runs = await fixture.runs();
    expect(runs.map(({ status, reply }) => [status, subjects.filter((s) => reply?.includes(s)).length])).to.deep.equal([
      ["completed", 1],
      ["completed", 1],
      ["completed", 1],
    ]);
    for (const subject of subjects) expect(sent().filter(({ text }) => text.includes(subject))).to.have.length(1);
    expect(sent().map(({ chat_id }) => String(chat_id))).to.deep.equal(["5", "5", "5"]);
    expect(code).to.equal(0);
    expect(listener.output().stdout).not.to.match(/Invoice|Lunch|ada@/);
  });

  it("is replaced by a standby process at once when it is stopped", async () => {
    const first = await listen();
    await heldBy(first);
    await begun();
    const second = await listenWithShortLease();

    const until = (await lease())?.until;
    await first.stop("SIGTERM");
    await heldBy(second);
    expect(Date.now(), "before the lease would have ended").to.be.below(Number(until));
    const id = arrive("News");
    await fixture.becomeRuns(1);

    expect(await fixture.mailIds()).to.deep.equal([id]);
  });

  it("is replaced by a standby process after the end of its lease when it is killed", async () => {
    const first = await listenWithShortLease();
    await heldBy(first);
    await begun();
    const second = await listen();
    const ids = [arrive("before")];
    await fixture.becomeRuns(1);

    await first.stop("SIGKILL");
    ids.push(arrive("meanwhile"));
    await heldBy(second);
    fixture.google.pubsub.redeliver();
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal(ids);
  });

  it("creates nothing twice after it was frozen beyond its lease, and stands by", async () => {
    const first = await listenWithShortLease();
    await heldBy(first);
    await begun();
    const second = await listen();

    await freeze(first.child.pid ?? 0);
    await heldBy(second);
    const id = arrive("News");
    fixture.google.pubsub.redeliver();
    await fixture.isCaughtUp();
    first.child.kill("SIGCONT");
    const again = arrive("More");
    await fixture.becomeRuns(2);
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id, again]);
    expect(await holder()).to.equal(second.child.pid);
  });

  it("reloads its configuration on SIGHUP: it idles without hooks.gmail, and listens again with it", async () => {
    const listener = await listen();
    await begun();
    const file = fixture.env.SIGNALBOX_CONFIG ?? "";

    const text = fixture.configText;
    writeFileSync(file, JSON.stringify({ redis: JSON.parse(text).redis }));
    listener.child.kill("SIGHUP");
    await eventually(async () => Number.isNaN(await holder()), "it to let go");
    const id = arrive("News");
    writeFileSync(file, text);
    listener.child.kill("SIGHUP");
    await fixture.becomeRuns(1);

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(listener.output().stdout).to.include("hooks.gmail is no longer set");
  });

  it("does not start with unusable credentials, and warns about a credentials file that others can read", async () => {
    writeFileSync(fixture.credentialsFile, "{}");
    const faulty = runGmailProcess(fixture.env);
    const code = await faulty.ended;
    writeFileSync(fixture.credentialsFile, JSON.stringify(CONSENT));
    chmodSync(fixture.credentialsFile, 0o644);
    const open = await listen();
    const warned = () => open.output().stdout.includes("the credentials file is readable by other users");
    await eventually(warned, "it to warn");

    expect(code).to.equal(1);
    expect(faulty.output().stderr).to.equal(
      `The credentials file ${fixture.credentialsFile} has no "type" of "authorized_user" or "service_account": run \`signalbox webhooks gmail setup\`, or name another file in hooks.gmail.credentialsFile.\n`,
    );
  });
});
