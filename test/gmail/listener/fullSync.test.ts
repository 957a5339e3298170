import { randomUUID } from "node:crypto";
import { expect } from "chai";
import pino from "pino";
import { connectGoogle } from "../../../src/gmail/api/google.ts";
import { catchUp } from "../../../src/gmail/listener/catchUp.ts";
import { LeasedMailbox } from "../../../src/gmail/listener/leasedMailbox.ts";
import { MailImporter } from "../../../src/gmail/listener/mailImporter.ts";
import { compileMappings } from "../../../src/hooks/mappings/mapping.ts";
import { ACCOUNT, type GmailFixture, startGmailFixture } from "../../support/gmail/gmailFixture.ts";

const DAY_MS = 24 * 3_600_000;
const never = new AbortController().signal;

describe("Gmail listener without a history", () => {
  let fixture: GmailFixture;
  beforeEach(async () => {
    fixture = await startGmailFixture();
  });
  afterEach(() => fixture.close());

  it("creates one run for each new mail, and none for mails from before it first listened", async () => {
    const { google } = fixture;
    const now = Date.now();
    const ancient = google.mailbox.add({ internalDate: now - 2 * DAY_MS });
    google.mailbox.add({ internalDate: now - DAY_MS });
    await fixture.listening();
    const seen = google.mailbox.add({ internalDate: now });
    google.pubsub.publish();
    await fixture.isCaughtUp();

    await fixture.restart(() => {
      for (const id of [ancient, seen]) google.mailbox.touch(id);
      google.mailbox.add({ internalDate: now + 1, labelIds: ["INBOX", "SENT"] });
      google.mailbox.add({ internalDate: now + 1, labelIds: ["Label_7"] });
      google.mailbox.add({ internalDate: now - 60_000 }); // visible late
      google.mailbox.add({ internalDate: now + 2 });
      google.mailbox.forgetHistory();
    });
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal([seen, "mail-6", "mail-7"]);
    expect(google.requestsTo(/messages\/mail-3/)).to.have.length(1);
    const [, query] = google
      .requestsTo(/messages\?/)
      .map(({ path }) => new URL(path, google.url).searchParams.get("q"));
    expect(query).to.equal(`after:${Math.floor((now - DAY_MS) / 1_000) - 1}`);
    expect(await fixture.eventTexts()).to.deep.equal([]);
  });

  it("lists the whole of a mailbox that was empty when it first listened", async () => {
    await fixture.listening();

    await fixture.restart(() => {
      for (let i = 0; i < 3; i++) fixture.google.mailbox.add();
      fixture.google.mailbox.forgetHistory();
    });
    await fixture.isCaughtUp();

    expect(await fixture.mailIds()).to.deep.equal(["mail-1", "mail-2", "mail-3"]);
  });

  for (const [when, isThere] of [
    ["existed before", true],
    ["came and became a run", false],
  ] as const) {
    it(`loses no mail if one that ${when} is dated in the future`, async () => {
      const { google } = fixture;
      const future = { internalDate: Date.now() + 3_650 * DAY_MS };
      if (isThere) google.mailbox.add(future);
      await fixture.listening();
      const seen = isThere ? [] : [google.mailbox.add(future)];
      google.pubsub.publish();
      await fixture.isCaughtUp();

      const missed: string[] = [];
      await fixture.restart(() => {
        missed.push(google.mailbox.add({ internalDate: Date.now() + 2_000 }));
        google.mailbox.forgetHistory();
      });
      await fixture.isCaughtUp();

      expect(await fixture.mailIds()).to.deep.equal([...seen, ...missed]);
    });
  }

  it("loses no mail that arrives during the sync", async () => {
    const { google } = fixture;
    await fixture.listening();

    await fixture.restart(() => {
      google.mailbox.add();
      google.mailbox.forgetHistory();
      google.fail(/messages\?/, (response, request) => {
        google.mailbox.add();
        response.writeHead(307, { Location: request.path }).end(); // redirects are not followed, so that the listener retries
      });
    });
    await fixture.timers.until(fixture.isCaughtUp());

    expect(await fixture.mailIds()).to.have.members(["mail-1", "mail-2"]);
  });

  for (const [title, secondsApart] of [
    ["in parts where there are many", 7],
    ["also where more than a part are of one second", 0],
  ] as const) {
    it(`lists the mails ${title}`, async () => {
      const { google, app } = fixture;
      const start = Date.now() - DAY_MS;
      await (await fixture.listening()).close();
      const ids = Array.from({ length: 11 }, (_, i) =>
        google.mailbox.add({ internalDate: start + i * secondsApart * 1_000 }),
      );
      google.mailbox.forgetHistory();
      const { stores, queues, clock, config } = app;
      const settings = config.hooks.gmail!;
      const token = randomUUID();
      await stores.gmailMailboxes.acquire(ACCOUNT, { token, holder: "test" }, 60_000);
      const mailbox = new LeasedMailbox(stores.gmailMailboxes, token, await fixture.mailbox());
      const log = pino({ level: "silent" });
      const mappings = compileMappings(config.hooks);
      const importer = new MailImporter({
        stores,
        queues,
        clock,
        log,
        mappings,
        settings,
        mailbox,
        hooks: config.hooks,
      });
      const { gmail } = connectGoogle(settings, google.addresses);

      await catchUp({ mailbox, importer, clock, log, label: "INBOX", batch: 3 }, gmail, never);

      expect((await fixture.mailIds()).toSorted()).to.deep.equal(ids.toSorted());
      expect(await fixture.mailbox()).to.deep.include({
        cursor: "1011",
        newestMailAt: new Date(start + 10 * secondsApart * 1_000),
      });
      expect(google.requestsTo(/messages\?/).length).to.be.greaterThan(3);
    });
  }
});
