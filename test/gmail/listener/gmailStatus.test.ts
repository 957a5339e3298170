import { expect } from "chai";
import { Registry } from "prom-client";
import { addGmailMetrics } from "../../../src/api/metrics/gmailMetrics.ts";
import { runCli } from "../../cli/service.ts";
import { runInProcess } from "../../support/cli.ts";
import { eventually } from "../../support/eventually.ts";
import { ACCOUNT, type GmailFixture, startGmailFixture } from "../../support/gmail/gmailFixture.ts";
import { googleError } from "../../support/gmail/googleServer.ts";

const TO_START =
  "start Signalbox with `npm start`, apply hooks.gmail to a running one with `signalbox reload`, or run `signalbox webhooks gmail run` beside web and worker";

describe("signalbox webhooks gmail status", () => {
  let fixture: GmailFixture;
  afterEach(() => fixture?.close()); // one test has none

  const start = async (...options: Parameters<typeof startGmailFixture>) => {
    fixture = await startGmailFixture(...options);
    return fixture;
  };
  const status = async () => {
    const { code, stdout, stderr } = await runInProcess(["webhooks", "gmail", "status", "--json"], fixture.env);
    expect(stderr).to.equal("");
    return { code, ...JSON.parse(stdout) };
  };

  it("reports a healthy listener with exit code 0: process, lag, last mail and notification, watch", async () => {
    const { google } = await start();
    await fixture.listening();
    google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");

    const said = await status();
    const words = await runInProcess(["webhooks", "gmail", "status"], fixture.env);

    const { listedAt, lastMailAt, lastNoticeAt, watch } = JSON.parse(JSON.stringify(await fixture.mailbox()));
    expect(said).to.deep.include({ code: 0, ok: true, problems: [], account: ACCOUNT, lastError: null });
    expect(said).to.deep.include({ listedAt, lastMailAt, lastNoticeAt, watchExpiresAt: watch.expiresAt });
    expect(said.listener).to.match(new RegExp(`:${process.pid}$`));
    expect(said.lagSeconds).to.be.a("number");
    expect(words.code).to.equal(0);
    expect(words.stdout)
      .to.match(/^Mailbox +ada@example.org$/m)
      .and.to.match(/^No problems\.$/m);
    expect(words.stdout).to.include(`Watch until        ${watch.expiresAt}`);
  });

  it("reports with exit code 1 that nobody has listened yet, with the remedy", async () => {
    await start();

    const { code, problems } = await status();

    expect(code).to.equal(1);
    expect(problems).to.deep.equal([`No process has listened to ${ACCOUNT} yet: ${TO_START}.`]);
  });

  it("reports that nobody listens any longer", async () => {
    await start();
    await (await fixture.listening()).close();

    const { code, problems, listener } = await status();

    expect({ code, listener }).to.deep.equal({ code: 1, listener: null });
    expect(problems).to.deep.equal([`No process listens to the mailbox: ${TO_START}.`]);
  });

  it("reports a lasting fault at once, with the remedy", async () => {
    const { google, app } = await start();
    google.deadAuthorization = "invalid_grant";
    fixture.listen();
    await eventually(async () => (await app.stores.gmailMailboxes.find(ACCOUNT))?.faults.mails, "the fault");

    const { code, problems, faults } = await status();

    expect(code).to.equal(1);
    expect(problems[0]).to.match(
      /^New mails cannot be read since .*invalid_grant.*run `signalbox webhooks gmail setup` again\.$/,
    );
    expect(faults.mails.reason).to.equal("Google's login answered 400 (invalid_grant).");
  });

  it("reports a transient fault after ten minutes", async () => {
    const { google, app } = await start();
    await fixture.listening();
    google.fail(/history/, ...Array(3).fill(googleError(503, "UNAVAILABLE", "backendError")));
    google.mailbox.add();
    google.pubsub.publish();
    await eventually(async () => (await fixture.mailbox()).faults.mails, "the fault");
    const young = await status();
    const since = new Date(Date.now() - 11 * 60_000);
    await app.stores.gmailMailboxes.collection.native.updateOne({}, { $set: { "faults.mails.since": since } });

    const old = await status();

    expect(young.problems).to.deep.equal([]);
    expect(old.problems[0]).to.match(/^New mails cannot be read since .* Gmail answered 503 .* keeps retrying/);
  });

  it("reports a late listing and an expired watch", async () => {
    const { app } = await start();
    await fixture.listening();
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");
    const past = new Date(Date.now() - 16 * 60_000);
    await app.stores.gmailMailboxes.collection.native.updateOne(
      {},
      { $set: { listedAt: past, "watch.expiresAt": past } },
    );

    const { code, problems } = await status();

    expect(code).to.equal(1);
    expect(problems).to.deep.equal([
      `The mailbox was last listed ${past.toISOString()}: the log of the listener has the reason.`,
      "Gmail sends no notifications, because it has no watch: the log of the listener has the reason.",
    ]);
  });

  it("reports no missing watch without a configured topic", async () => {
    await start({ settings: { topic: undefined, subscription: undefined } });
    await fixture.listening();

    expect(await status()).to.deep.include({ code: 0, problems: [], watchExpiresAt: null });
  });

  it("reports in one sentence that hooks.gmail is not set, as does run", async () => {
    const status = await runInProcess(["webhooks", "gmail", "status"], {}, { cwd: "test" });
    const run = await runCli("webhooks gmail run", {}, "test").ended;

    for (const { code, stderr } of [status, run]) {
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: "hooks.gmail is not set: run `signalbox webhooks gmail setup`.\n",
      });
    }
  });
});

describe("metrics of the Gmail listener", () => {
  let fixture: GmailFixture;
  beforeEach(async () => {
    fixture = await startGmailFixture();
  });
  afterEach(() => fixture.close());

  const figures = async (registry: Registry) => {
    const text = await registry.metrics();
    return Object.fromEntries(
      [...text.matchAll(/^signalbox_gmail_(\S+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
    );
  };

  it("show the mailbox's document, which is read once per scrape", async () => {
    const { google, app } = fixture;
    const registry = new Registry();
    let reads = 0;
    const read = () => {
      reads++;
      return app.stores.gmailMailboxes.find(ACCOUNT);
    };
    addGmailMetrics(registry, read, app.clock);
    const before = await figures(registry);
    await fixture.listening();
    google.fail(/history/, googleError(403, "PERMISSION_DENIED", "forbidden"));
    google.mailbox.add();
    google.pubsub.publish();
    await eventually(async () => (await fixture.mailbox()).faults.mails, "the fault");
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");
    reads = 0;

    const after = await figures(registry);

    const { lastNoticeAt, watch } = await fixture.mailbox();
    expect(before).to.deep.equal({});
    expect(reads).to.equal(1);
    expect(after).to.deep.include({
      listening: 1,
      last_notice_timestamp_seconds: Number(lastNoticeAt) / 1_000,
      watch_expiry_timestamp_seconds: Number(watch?.expiresAt) / 1_000,
      'fault{part="mails",lasting="true"}': 1,
      'fault{part="mails",lasting="false"}': 0,
      'fault{part="notices",lasting="true"}': 0,
    });
    expect(after.lag_seconds).to.be.at.least(0);
    expect(after).not.to.have.property("last_mail_timestamp_seconds");
  });

  it("are absent while MongoDB is unavailable, without failing a scrape", async () => {
    const registry = new Registry();
    addGmailMetrics(registry, () => Promise.reject(new Error("away")), fixture.app.clock);

    expect(await figures(registry)).to.deep.equal({});
  });
});
