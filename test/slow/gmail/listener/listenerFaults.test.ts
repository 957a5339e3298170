import { writeFileSync } from "node:fs";
import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { CONSENT, type GmailFixture, SUBSCRIPTION, startGmailFixture } from "../../../support/gmail/gmailFixture.ts";
import { googleError } from "../../../support/gmail/googleServer.ts";
import { answers, breaks } from "../../../support/servers/channelServer.ts";
import { startMongod, startRedis } from "../../../support/servers/servers.ts";

const POLL_MS = 300_000;
const SLOW_RETRY_MS = 60_000;
/** The longest pause between looks at the watch. */
const WATCH_LOOK_MS = 600_000;
/** The delays after ten consecutive failures; later ones equal the last. */
const GROWING = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => 1_000 * seconds);
const away = googleError(503, "UNAVAILABLE", "backendError");
const forbidden = googleError(403, "PERMISSION_DENIED", "forbidden");

describe("Gmail listener with faults", () => {
  let fixture: GmailFixture;
  afterEach(() => fixture.close());

  const start = async (...options: Parameters<typeof startGmailFixture>) => {
    fixture = await startGmailFixture(...options);
    await fixture.listening();
    return fixture;
  };
  const fault = async (part: "mails" | "notices" | "watch") => (await fixture.mailbox()).faults[part];
  const failed = (part: "mails" | "notices" | "watch") => eventually(() => fault(part), `${part} to fail`);
  const recovered = (part: "mails" | "notices" | "watch") =>
    eventually(async () => (await fault(part)) === null, `${part} to work again`);

  it("retries with growing delays while Gmail is unavailable, and imports all mails afterwards", async () => {
    const { google, timers } = await start();
    google.fail(/history/, away, breaks, away);

    const id = google.mailbox.add();
    google.pubsub.publish();
    for (const ms of [1_000, 2_000, 4_000]) await timers.passing(ms);
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(await fixture.eventTexts()).to.deep.equal([]);
    await recovered("mails");
    expect((await fixture.mailbox()).lastError?.reason).to.equal("Gmail answered 503 (UNAVAILABLE, backendError).");
  });

  for (const [what, limit] of [
    ["429", googleError(429, "RESOURCE_EXHAUSTED", "rateLimitExceeded", { "Retry-After": "47" })],
    [
      "403 with userRateLimitExceeded",
      googleError(403, "PERMISSION_DENIED", "userRateLimitExceeded", { "Retry-After": "47" }),
    ],
  ] as const) {
    it(`waits as long as Gmail demands with ${what}, without an event`, async () => {
      const { google, timers } = await start();
      google.fail(/messages\/mail/, limit);

      const id = google.mailbox.add();
      google.pubsub.publish();
      await timers.passing(47_000);
      await fixture.isCaughtUp();

      expect(await fixture.mailIds()).to.deep.equal([id]);
      expect(await fixture.eventTexts()).to.deep.equal([]);
    });
  }

  it("requests a new token when the old one has expired", async () => {
    const { google } = await start();

    google.endTokens();
    const id = google.mailbox.add();
    google.pubsub.publish();
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/token/).length).to.be.greaterThan(1);
  });

  it("notifies the main session once of a revoked consent, also across restarts, and continues with a new one", async () => {
    const { google, timers, app } = await start();
    google.deadAuthorization = "invalid_grant";
    google.endTokens();
    const id = google.mailbox.add();
    google.pubsub.publish();
    await failed("mails");
    await eventually(async () => (await fixture.eventTexts()).length > 0, "the event");
    const { _id, wake } = (await app.stores.mainEvents.collection.native.findOne({ source: "gmail" }))!;
    for (const ms of [SLOW_RETRY_MS, 2 * SLOW_RETRY_MS]) await timers.passing(ms);
    await fixture.restart();
    await timers.pausing(SLOW_RETRY_MS, 2);
    const told = await fixture.eventTexts();
    const { mails, notices } = (await fixture.mailbox()).faults;

    writeFileSync(fixture.credentialsFile, JSON.stringify({ ...CONSENT, refresh_token: "another" }));
    google.deadAuthorization = undefined;
    google.pubsub.redeliver();
    await timers.until(Promise.all([recovered("mails"), recovered("notices")]));
    await timers.until(fixture.isCaughtUp());

    expect(wake).to.equal(true);
    expect(told).to.have.length(1);
    expect(told[0])
      .to.match(/late or not at all|New mails cannot be read/)
      .and.to.include("invalid_grant");
    expect(told[0]).to.include("`signalbox webhooks gmail setup`");
    for (const one of [mails, notices]) expect(one).to.deep.include({ isLasting: true, toldAs: _id });
    expect(await fixture.eventTexts()).to.have.length(2);
    expect((await fixture.eventTexts())[1]).to.match(/again\.$/);
    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/token/).at(-1)?.body).to.include({ refresh_token: "another" });
    expect(JSON.stringify(fixture.log)).not.to.match(/secret words|ada@|another/);
  });

  it("continues to list while Pub/Sub refuses, notifies once, and pulls again afterwards", async () => {
    const { google, timers } = await start();
    google.fail(/:pull/, forbidden, forbidden, forbidden);
    google.pubsub.publish();
    await failed("notices");

    const id = google.mailbox.add();
    await timers.passing(POLL_MS);
    await fixture.becomeRuns(1);
    const during = await fault("notices");
    google.pubsub.publish();
    await timers.until(recovered("notices"));
    await fixture.isCaughtUp();

    expect(during).to.deep.include({ isLasting: true });
    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(await fixture.eventTexts()).to.deep.equal([
      "Notifications of new mails cannot be pulled, so mails arrive late or not at all: Pub/Sub answered 403 (PERMISSION_DENIED, forbidden). To fix it, run `signalbox webhooks gmail setup` again.",
      "Notifications of new mails are pulled again.",
    ]);
  });

  it("continues while the watch cannot be renewed for an hour, and renews it afterwards", async () => {
    const { google, timers } = await start();
    await timers.pausing(WATCH_LOOK_MS, 1);
    const { watch } = await fixture.mailbox();
    const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, ...Array(11).fill(300)].map((seconds) => 1_000 * seconds);
    google.fail(/watch/, ...pauses.map(() => away));

    timers.pass(720 * 60_000);
    const alsoPolling = (ms: number) => (ms === POLL_MS ? 2 : 1);
    for (const ms of pauses.slice(0, -1)) await timers.passing(ms, alsoPolling(ms));
    await eventually(() => google.requestsTo(/watch/).length === 1 + pauses.length, "the last failure");
    const during = await fixture.mailbox();
    const id = google.mailbox.add();
    google.pubsub.publish();
    await fixture.becomeRuns(1);
    await timers.passing(POLL_MS);
    await recovered("watch");

    const after = await fixture.mailbox();
    expect(during.faults.watch).to.deep.include({ isLasting: false });
    expect(during.watch).to.deep.equal(watch);
    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(after.watch?.renewedAt.getTime()).to.be.greaterThan((watch?.renewedAt.getTime() ?? 0) + 780 * 60_000);
    expect(await fixture.eventTexts()).to.deep.equal([]);
  });

  it("skips a mail that Gmail refuses and reports its id", async () => {
    const { google } = await start();
    google.fail(/messages\/mail-1/, googleError(400, "FAILED_PRECONDITION", "failedPrecondition"));

    const [, id] = [google.mailbox.add(), google.mailbox.add()];
    google.pubsub.publish();
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(await fixture.eventTexts()).to.deep.equal([
      "The mail with Gmail's id mail-1 could not be read and is skipped: Gmail answered 400 (FAILED_PRECONDITION, failedPrecondition).",
    ]);
    expect((await fixture.mailbox()).lastError?.reason).to.include("A mail was skipped: Gmail answered 400");
  });

  it("skips a mail for which Gmail fails ten times while it returns others", async () => {
    const { google, timers } = await start();
    google.fail(/messages\/mail-1/, ...Array(22).fill(away));

    google.mailbox.add();
    google.pubsub.publish();
    for (const ms of GROWING) await timers.passing(ms);
    await eventually(() => google.requestsTo(/messages\/mail-1/).length > 10, "the eleventh try");
    const alone = await fixture.eventTexts();
    const id = google.mailbox.add();
    for (let tries = 12; tries <= 21; tries++) await timers.passing(POLL_MS);
    await fixture.isCaughtUp();

    expect(alone).to.deep.equal([]);
    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/messages\/mail-1/)).to.have.length(21);
    expect(await fixture.eventTexts()).to.have.length(1);
  });

  it("loses no mail during a long outage of Gmail with a gradual recovery", async () => {
    const { google, timers } = await start();
    let tries = 0;
    google.isDown = (line) => {
      const [, mail] = /messages\/mail-(\d)/.exec(line) ?? [];
      if (mail === "1") tries++;
      return mail !== undefined && tries <= (Number(mail) <= 4 ? 15 : 12);
    };

    const ids = Array.from({ length: 7 }, () => google.mailbox.add());
    google.pubsub.publish();
    for (const ms of [...GROWING, ...Array(5).fill(POLL_MS)]) await timers.passing(ms);
    await fixture.isCaughtUp();

    expect(tries).to.be.greaterThan(15);
    expect(await fixture.mailIds()).to.deep.equal(ids);
    expect(await fixture.eventTexts()).to.deep.equal([]);
  });

  it("skips no mail if the consent does not suffice, reports the 403, and imports all mails once it does", async () => {
    const { google, timers } = await start();
    google.fail(/messages\/mail/, forbidden, forbidden);

    const ids = [google.mailbox.add(), google.mailbox.add()];
    google.pubsub.publish();
    await failed("mails");
    await timers.passing(SLOW_RETRY_MS);
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal(ids);
    await recovered("mails");
    expect((await fixture.eventTexts())[0]).to.match(/^New mails cannot be read: Gmail answered 403/);
  });

  it("skips mails that their mapping cannot process and reports the reason", async () => {
    const mappings = [{ id: "own", match: { path: "gmail" }, forEach: "attachments", messageTemplate: "x" }];
    const { google } = await start({ hooks: { mappings } });

    google.mailbox.add({ snippet: "hidden" });
    google.pubsub.publish();
    await fixture.isCaughtUp();

    expect(await fixture.runs()).to.deep.equal([]);
    expect(await fixture.eventTexts()).to.deep.equal([
      "The mail with Gmail's id mail-1 could not be read and is skipped: attachments must be an array: the mapping makes a run of each of its items.",
    ]);
    expect(JSON.stringify(fixture.log)).not.to.include("hidden");
  });

  it("skips a mail on which the listener itself fails ten times", async () => {
    const { google, timers, app } = await start();
    const { runs } = app.stores;
    const accept = runs.accept.bind(runs);
    runs.accept = async (wanted) => {
      if (wanted.some(({ mapped }) => mapped?.call?.includes("odd"))) throw new TypeError("an error of ours");
      return accept(wanted);
    };

    google.mailbox.add({ snippet: "odd" });
    const id = google.mailbox.add();
    google.pubsub.publish();
    await timers.until(fixture.isCaughtUp());

    expect(await fixture.mailIds()).to.deep.equal([id]);
    expect(google.requestsTo(/messages\/mail-1/)).to.have.length(10);
    expect(await fixture.eventTexts()).to.deep.equal([
      "The mail with Gmail's id mail-1 could not be read and is skipped: It could not be read; the log of the listener has the reason.",
    ]);
    expect(JSON.stringify(fixture.log)).to.include("an error of ours").and.not.to.include("odd");
  });

  it("does not listen to a mailbox other than the configured one", async () => {
    const { google, timers } = await start();
    await fixture.restart(() => Object.assign(google.mailbox, { emailAddress: "bob@example.org" }));
    google.mailbox.add();

    await failed("mails");
    Object.assign(google.mailbox, { emailAddress: "Ada@example.org" });
    const before = await fixture.runs();
    await timers.passing(SLOW_RETRY_MS);
    await fixture.becomeRuns(1);

    expect(before).to.deep.equal([]);
    expect((await fixture.eventTexts())[0]).to.include(
      "The credentials are of another mailbox than hooks.gmail.account.",
    );
  });

  it("starts no watch on another mailbox, and starts one once the credentials are right", async () => {
    fixture = await startGmailFixture();
    const { google, timers } = fixture;
    const { emailAddress } = google.mailbox;
    Object.assign(google.mailbox, { emailAddress: "bob@example.org" });
    fixture.listen();
    await timers.pausing(SLOW_RETRY_MS, 2); // checks the mailbox again, before mails and before the watch
    const ofAnother = google.requestsTo(/users\/me\/watch/);

    Object.assign(google.mailbox, { emailAddress });
    timers.pass(SLOW_RETRY_MS);
    const { watch } = await eventually(async () => {
      const mailbox = await fixture.mailbox();
      return mailbox.watch && mailbox;
    }, "the watch");

    expect(ofAnother).to.deep.equal([]);
    expect(watch).to.include({ label: "INBOX" });
    expect(await fixture.eventTexts()).to.have.length.within(1, 2); // and once that it works again
  });

  it("reports an unusable credentials file and rereads it", async () => {
    const { google, timers } = await start();
    await fixture.restart(() => writeFileSync(fixture.credentialsFile, "{"));

    const { reason, isLasting } = await failed("mails");
    writeFileSync(fixture.credentialsFile, JSON.stringify(CONSENT));
    google.mailbox.add();
    await timers.passing(SLOW_RETRY_MS);
    await fixture.becomeRuns(1);

    expect(isLasting).to.equal(true);
    expect(reason).to.include(`The credentials file ${fixture.credentialsFile} is not valid JSON`);
  });

  it("acknowledges nothing while MongoDB is unavailable, and imports all mails afterwards", async () => {
    const mongod = await startMongod();
    try {
      const { google, timers } = await start({ mongo: mongod.url });
      await mongod.stop("SIGKILL");
      const ids = [google.mailbox.add(), google.mailbox.add()];
      google.pubsub.publish();
      await eventually(() => fixture.log.some(({ reason }) => /MongoDB/.test(String(reason))), "it to be seen");
      const unacknowledged = google.pubsub.outstanding(SUBSCRIPTION);
      await mongod.start();
      await timers.until(fixture.becomeRuns(2));

      expect(unacknowledged).to.equal(1);
      expect(await fixture.mailIds()).to.deep.equal(ids);
      await fixture.close();
    } finally {
      await mongod.remove();
    }
  });

  it("imports mails while Redis is unavailable", async () => {
    const redis = await startRedis();
    try {
      const { google } = await start({ redis: redis.url });
      await redis.stop("SIGKILL");

      const id = google.mailbox.add();
      google.pubsub.publish();
      await fixture.isCaughtUp();

      expect(await fixture.mailIds()).to.deep.equal([id]);
      await fixture.close();
    } finally {
      await redis.remove();
    }
  });

  it("treats a response that is not Google's as transient", async () => {
    const { google, timers } = await start();
    google.fail(/history/, answers(200, "<html>proxy</html>"));

    google.mailbox.add();
    google.pubsub.publish();
    await timers.passing(1_000);
    await fixture.isCaughtUp();

    expect((await fixture.mailbox()).lastError?.reason).to.equal("Gmail's answer could not be read.");
    expect(await fixture.eventTexts()).to.deep.equal([]);
  });
});
