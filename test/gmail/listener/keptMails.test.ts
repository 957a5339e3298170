import { expect } from "chai";
import { type GmailFixture, startGmailFixture } from "../../support/gmail/gmailFixture.ts";

describe("mails of the Gmail listener", () => {
  let fixture: GmailFixture;
  afterEach(() => fixture.close());

  const importMail = async (settings: object, hooks: object) => {
    fixture = await startGmailFixture({ settings, hooks });
    await fixture.listening();
    fixture.google.mailbox.add({ snippet: "Hello" });
    fixture.google.pubsub.publish();
    await fixture.isCaughtUp();
    return fixture.app.stores.hookRequests.collection.native.find().toArray();
  };

  it("are not kept when only other requests are", async () => {
    expect(await importMail({}, { keepRequests: "7d" })).to.deep.equal([]);
    expect(await fixture.runs()).to.have.length(1);
  });

  it("are kept with hooks.gmail.keepRequests, with their runs", async () => {
    const [kept, ...more] = await importMail({ keepRequests: true }, { keepRequests: "7d" });

    const [run] = await fixture.runs();
    expect(more).to.deep.equal([]);
    expect(kept).to.deep.include({ hook: "gmail", mapping: "preset:gmail", outcome: "accepted", status: null });
    expect(kept?.runIds).to.deep.equal([run?._id]);
    expect(run?.requestId).to.equal(kept?._id);
    expect(JSON.parse(Buffer.from(kept!.body!.value()).toString()).messages[0].snippet).to.equal("Hello");
  });
});
