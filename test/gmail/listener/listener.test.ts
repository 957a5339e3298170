import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { expect } from "chai";
import { mailboxStatus } from "../../../src/gmail/listener/mailboxStatus.ts";
import { mappedHook } from "../../../src/shared/queue/definitions.ts";
import { eventually } from "../../support/eventually.ts";
import {
  ACCOUNT,
  type GmailFixture,
  SUBSCRIPTION,
  startGmailFixture,
  TOPIC,
} from "../../support/gmail/gmailFixture.ts";

const POLL_MS = 300_000;
const WATCH_LOOK_MS = 600_000;

describe("Gmail listener", () => {
  let fixture: GmailFixture;
  afterEach(() => fixture.close());

  const start = async (...options: Parameters<typeof startGmailFixture>) => {
    fixture = await startGmailFixture(...options);
    return fixture;
  };
  const listings = () => fixture.google.requestsTo(/history/).length;

  it("creates and enqueues one run for a mail after a notification, and then acknowledges it", async () => {
    const { google, app } = await start();
    await fixture.listening();
    const id = google.mailbox.add({
      snippet: "Hello",
      payload: {
        headers: [
          { name: "From", value: "Bob <bob@example.org>" },
          { name: "Subject", value: "News" },
        ],
        mimeType: "text/html",
        body: { data: Buffer.from("<p>Hello <b>Ada</b></p>").toString("base64url") },
      },
    });

    google.pubsub.publish();
    await fixture.isCaughtUp();

    const [run] = await fixture.runs();
    const { payload, ...call } = JSON.parse(run?.mapped?.call ?? "");
    expect(run).to.deep.include({ name: "Gmail", sessionKey: `hook:gmail:${id}`, status: "queued" });
    expect(run?.mapped?.mapping).to.equal("preset:gmail");
    expect(call).to.deep.equal({ headers: {}, url: "/hooks/gmail", path: "gmail", query: {} });
    expect(payload).to.deep.include({ source: "gmail", account: ACCOUNT });
    expect(payload.messages).to.have.length(1);
    const mail = { id, from: "Bob <bob@example.org>", subject: "News", snippet: "Hello", body: "Hello Ada" };
    expect(payload.messages[0]).to.deep.include(mail);
    expect(await app.queues.has(mappedHook, run?._id ?? "")).to.equal(true);
    expect((await fixture.mailbox()).cursor).to.equal("1001");
  });

  it("passes mails to the first matching mapping before the preset", async () => {
    const mappings = [
      { id: "other", match: { path: "gmail", source: "other" }, messageTemplate: "x" },
      { id: "own", match: { source: "gmail" }, messageTemplate: "{{messages[0].subject}}", sessionKey: "hook:mails" },
    ];
    const { google } = await start({ hooks: { mappings } });
    await fixture.listening();

    google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();

    const [run] = await fixture.runs();
    expect(run).to.deep.include({ name: "own", sessionKey: "hook:mails" });
  });

  it("creates no runs for mails from before it first listened, and starts the watch", async () => {
    const { google } = await start();
    google.mailbox.add();
    await fixture.listening();

    const id = google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.watch).to.deep.include({ topicName: TOPIC, labelIds: ["INBOX"] });
  });

  it("skips spam, trash, drafts, sent mails, other labels and mails deleted before they are fetched", async () => {
    const { google } = await start();
    await fixture.listening();

    for (const label of ["SPAM", "TRASH", "DRAFT", "SENT"]) google.mailbox.add({ labelIds: ["INBOX", label] });
    google.mailbox.add({ labelIds: ["Label_7"] });
    google.mailbox.remove(google.mailbox.add());
    const id = google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id]);
  });

  it("lists once for many notifications, also for repeated, late and unordered ones", async () => {
    const { google } = await start();
    await fixture.listening();
    const before = listings();

    const ids = [1, 2, 3].map(() => google.mailbox.add());
    for (const historyId of [1003, 1001, "1002", 1003, 7]) google.pubsub.publish({ emailAddress: ACCOUNT, historyId });
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal(ids);
    expect(listings() - before).to.equal(1);
    expect((await fixture.mailbox()).lastNoticeAt).to.be.instanceOf(Date);
  });

  it("acknowledges a notification only once Gmail's history shows its change", async () => {
    const { google } = await start();
    await fixture.listening();

    google.pubsub.publish({ emailAddress: ACCOUNT, historyId: 1001 });
    await eventually(async () => (await fixture.mailbox()).lastNoticeAt, "the notice to be seen");
    await eventually(() => google.requestsTo(/acknowledge|:pull/).length > 1, "the next pull");
    const before = google.pubsub.outstanding(SUBSCRIPTION);
    const id = google.mailbox.add();
    google.pubsub.redeliver();
    await fixture.isCaughtUp();

    expect(before).to.equal(1);
    expect(await fixture.mailIds()).to.deep.equal([id]);
  });

  it("acknowledges notifications of other mailboxes without listing", async () => {
    const { google } = await start();
    await fixture.listening();
    const before = listings();

    google.pubsub.publish({ emailAddress: "bob@example.org", historyId: 5_000 });
    google.pubsub.publish("nonsense");
    await fixture.isCaughtUp();

    expect(listings()).to.equal(before);
    expect((await fixture.mailbox()).lastNoticeAt).to.equal(null);
  });

  it("lists the mailbox from time to time, as notifications may be lost", async () => {
    const { google, timers } = await start();
    await fixture.listening();

    const id = google.mailbox.add();
    await timers.passing(POLL_MS);
    await fixture.becomeRuns(1);

    expect(await fixture.mailIds()).to.deep.equal([id]);
  });

  it("only lists the mailbox from time to time without a topic and a subscription", async () => {
    const { google, timers } = await start({ settings: { topic: undefined, subscription: undefined } });
    await fixture.listening();

    const id = google.mailbox.add();
    await timers.passing(POLL_MS);
    await fixture.becomeRuns(1);

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/watch|pubsub|\/v1\/projects/)).to.deep.equal([]);
    expect((await fixture.mailbox()).watch).to.equal(null);
  });

  it("imports many mails in order and advances its cursor with each page", async () => {
    const { google, timers } = await start();
    await fixture.listening();
    google.mailbox.pageSize = 5;

    const ids = Array.from({ length: 23 }, () => google.mailbox.add());
    await timers.passing(POLL_MS);
    await fixture.becomeRuns(23);
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal(ids);
    const starts = google.requestsTo(/history/).map(({ path }) => /startHistoryId=(\d+)/.exec(path)?.[1]);
    expect(starts).to.deep.equal(["1000", "1000", "1005", "1010", "1015", "1020"]);
  });

  it("keeps the configured size of a mail of 20 MB", async () => {
    const { google } = await start({ settings: { maxBytes: 1_000 } });
    await fixture.listening();

    const data = Buffer.from("all work and no play ".repeat(1_000_000)).toString("base64url");
    google.mailbox.add({ payload: { mimeType: "text/plain", headers: [], body: { data } } });
    google.pubsub.publish();
    await fixture.isCaughtUp();

    const [run] = await fixture.runs();
    const { body } = JSON.parse(run?.mapped?.call ?? "").payload.messages[0];
    expect(Buffer.byteLength(body)).to.be.within(900, 1_000);
    expect(body).to.match(/^all work .*\n\[\d+ bytes more\]$/s);
  });

  it("fetches no bodies unless configured", async () => {
    const { google } = await start({ settings: { includeBody: false } });
    await fixture.listening();

    const id = google.mailbox.add({ snippet: "Hello" });
    google.pubsub.publish();
    await fixture.isCaughtUp();

    const [run] = await fixture.runs();
    expect(JSON.parse(run?.mapped?.call ?? "").payload.messages[0]).to.include({ id, snippet: "Hello" });
    expect(run?.mapped?.call).not.to.include('"body"');
    expect(google.requestsTo(/messages\/mail/).map(({ path }) => path.split("?")[1])).to.deep.equal([
      "format=metadata",
    ]);
  });

  it("continues from its cursor after a restart and does not renew a recent watch", async () => {
    const { google } = await start();
    await (await fixture.listening()).close();
    const id = google.mailbox.add();

    fixture.listen();
    await fixture.becomeRuns(1);

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/watch/)).to.have.length(1);
  });

  it("impersonates the owner for the mailbox with a service account, but not for pulls", async () => {
    const { google } = await start();
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const key = { type: "service_account", client_email: "robot@p.iam.gserviceaccount.com", private_key: privateKey };
    writeFileSync(fixture.credentialsFile, JSON.stringify(key));
    await fixture.listening();

    const id = google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();

    const claims = google.requestsTo(/token/).map(({ body: { assertion } }) => {
      const { sub, scope } = JSON.parse(Buffer.from(assertion.split(".")[1], "base64url").toString());
      return [sub, scope];
    });
    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(claims).to.have.deep.members([
      [ACCOUNT, "https://www.googleapis.com/auth/gmail.readonly"],
      [undefined, "https://www.googleapis.com/auth/pubsub"],
    ]);
  });

  it("renews its watch after twelve hours in whichever process listens", async () => {
    const { google, timers } = await start();
    await fixture.listening();
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");

    timers.pass((12 * 60 - 1) * 60_000);
    await fixture.restart();
    await eventually(async () => (await fixture.mailbox()).lease, "it to listen");
    await timers.pausing(POLL_MS, 1);
    const before = google.requestsTo(/watch/).length;
    timers.pass(2 * 60_000);
    await eventually(() => google.requestsTo(/watch/).length > before, "the renewal");

    expect(before).to.equal(1);
  });

  it("renews its watch after the machine was suspended", async () => {
    const { google, app, timers } = await start();
    await fixture.listening();
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");
    await timers.pausing(WATCH_LOOK_MS, 1);

    app.clock.advance(8 * 24 * 3_600_000);
    timers.pass(WATCH_LOOK_MS);
    await eventually(() => google.requestsTo(/watch/).length > 1, "the renewal");

    expect((await fixture.mailbox()).lastError).to.equal(null);
  });

  it("renews its watch when the clock was a year ahead at the last renewal", async () => {
    const { google, app } = await start();
    app.clock.advance(365 * 24 * 3_600_000);
    const listener = await fixture.listening();
    await eventually(async () => (await fixture.mailbox()).watch, "the watch");
    await listener.close();

    app.clock.advance(-365 * 24 * 3_600_000);
    fixture.listen();
    const isRight = async () => {
      const { watch } = await fixture.mailbox();
      return watch && watch.renewedAt < watch.expiresAt;
    };
    await eventually(isRight, "the renewal");

    expect(google.requestsTo(/watch/)).to.have.length(2);
  });

  it("starts after a killed process whose clock was a year ahead", async () => {
    const { app } = await start();
    app.clock.advance(365 * 24 * 3_600_000);
    await app.stores.gmailMailboxes.acquire(ACCOUNT, { token: "killed", holder: "here:1" }, 15_000);
    app.clock.advance(-365 * 24 * 3_600_000);

    const before = mailboxStatus(app.config.hooks.gmail!, await fixture.mailbox(), app.clock.now());
    await fixture.listening();

    expect(before.listener).to.equal(null);
    expect((await fixture.mailbox()).lease?.token).not.to.equal("killed");
  });

  it("starts a new watch when another label is configured", async () => {
    const { google, app } = await start();
    await (await fixture.listening()).close();

    Object.assign(app, {
      config: { ...app.config, hooks: { ...app.config.hooks, gmail: { ...app.config.hooks.gmail, label: "Label_7" } } },
    });
    fixture.listen();
    await eventually(() => google.requestsTo(/watch/).length > 1, "the watch");

    expect(google.watch?.labelIds).to.deep.equal(["Label_7"]);
  });
});
