import { expect } from "chai";
import { createJob, report, whole } from "../../support/factories.ts";
import { LiveFixture } from "../../support/liveFixture.ts";

const QUIET = ["telegram", "discord", "ntfy"];

for (const name of ["telegram", "slack", "discord", "mattermost", "ntfy"] as const) {
  describe(`a message that follows a job: ${name}`, () => {
    let fixture: LiveFixture;
    beforeEach(async () => {
      fixture = await LiveFixture.start(name);
    });
    afterEach(() => fixture.close());

    it("shows bar, percent, step and message, and ends as completed in the same message", async () => {
      const { path } = await createJob(fixture.app, { name: "Nightly import" });
      await report(fixture.app, path, "load", { ...whole(25), message: "a quarter" });

      const message = await fixture.shows("25 %");
      const first = message.text;
      await fixture.recorded();
      await report(fixture.app, path, "load", { ...whole(50), message: "half of it" });
      await fixture.shows("50 %");
      await fixture.app.call("PUT", path, { status: "completed" });
      await fixture.shows("✅");

      expect(first).to.match(/^⏳ \S*Nightly import/);
      expect(first).to.include("▓▓▓░░░░░░░░░ 25 %").and.include("load").and.include("a quarter");
      expect(fixture.messages).to.deep.equal([message]);
      expect(message.isQuiet).to.equal(QUIET.includes(name));
      expect(message.text).to.match(/^✅ \S*Nightly import\S* completed/);
    });

    it("ends as failed in the same message, and rings once", async () => {
      const { path } = await createJob(fixture.app, { name: "Nightly import" });
      const message = await fixture.shows("Nightly import");
      await fixture.recorded();
      await report(fixture.app, path, "load", { status: "failed", message: "The disk is full", failJob: true });
      await fixture.shows("❌");
      const [, ring] = await Promise.all([fixture.shows("❌"), fixture.rings()]);

      expect(message.text).to.match(/^❌ \S*Nightly import\S* failed/);
      expect(fixture.messages).to.deep.equal([message, ring]);
      expect(ring.text)
        .to.match(/^\S*Nightly import\S* failed/)
        .and.include("The disk is full");
      expect(ring.isQuiet).to.equal(false);
    });

    if (name === "ntfy") return; // nobody can delete its notifications at the server

    it("is not sent anew after somebody has deleted it, and its job ends with a message", async () => {
      const { path } = await createJob(fixture.app, { name: "Nightly import" });
      fixture.service.remove(await fixture.shows("Nightly import"));
      await fixture.recorded();
      await report(fixture.app, path, "load", whole(50));
      await fixture.givenUp();
      await fixture.app.call("PUT", path, { status: "completed" });
      await fixture.shows("✅");

      expect(fixture.messages).to.have.length(1);
    });
  });
}

describe("a message that follows a job: an ntfy server before 2.16", () => {
  let fixture: LiveFixture;
  before(async () => {
    fixture = await LiveFixture.start("oldNtfy");
  });
  after(() => fixture.close());

  it("gets only the first message and the last", async () => {
    const { path } = await createJob(fixture.app, { name: "Nightly import" });
    await fixture.shows("Nightly import");
    await fixture.givenUp();
    await report(fixture.app, path, "load", whole(50));
    await fixture.app.call("PUT", path, { status: "failed" });
    await fixture.shows("❌");
    await fixture.settled();

    expect(fixture.messages.map(({ text, isQuiet }) => [text.slice(0, 1), isQuiet])).to.deep.equal([
      ["⏳", true],
      ["❌", false],
    ]);
  });
});
