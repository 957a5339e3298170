import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { type GmailFixture, runGmailProcess, startGmailFixture } from "../../../support/gmail/gmailFixture.ts";

describe("Gmail listener with little memory", () => {
  let fixture: GmailFixture;
  beforeEach(async () => {
    fixture = await startGmailFixture({ settings: { maxBytes: 1_000 } });
  });
  afterEach(() => fixture.close());

  it("imports ten mails of 20 MB at once", async () => {
    const { google } = fixture;
    await (await fixture.listening()).close();
    const data = Buffer.from("<p>all work and <b>no</b> play".repeat(700_000)).toString("base64url");
    const payload = { mimeType: "text/html", headers: [], body: { data } };
    const ids = Array.from({ length: 10 }, () => google.mailbox.add({ payload }));
    google.pubsub.publish();

    const listener = runGmailProcess({
      ...fixture.env,
      NODE_OPTIONS: `${fixture.env.NODE_OPTIONS} --max-old-space-size=160`,
    });
    let isOver = false;
    void listener.ended.then(() => {
      isOver = true;
    });
    await eventually(async () => isOver || (await fixture.runs()).length === ids.length, "ten runs", 90_000);
    const code = await listener.stop();

    expect(code).to.equal(0);
    expect(await fixture.mailIds()).to.deep.equal(ids);
    for (const { mapped } of await fixture.runs()) expect(mapped?.call?.length).to.be.within(1_000, 3_000);
  });
});
