import { expect } from "chai";
import { MappedHookFixture } from "../../../support/hooks/mappedHookFixture.ts";

describe("a mapped hook", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    fixture = await MappedHookFixture.start(
      `{ match: { path: "long" }, timeoutSeconds: 7200, messageTemplate: "long", deliver: false }`,
    );
  });
  beforeEach(() => fixture.model.script()); // A turn that timed out before its request has left its answer.
  after(() => fixture.close());

  it("may take as long as its mapping allows, beyond the maximum for senders", async () => {
    const { status } = await fixture.run("long", {});

    expect(status).to.equal("completed");
  });
});

describe("the gmail preset", () => {
  it("passes a mail of 8 MiB to the model", async () => {
    const fixture = await MappedHookFixture.start([], { hooks: 'presets: ["gmail"]' });
    try {
      const body = "x".repeat(8 * 1024 * 1024 - 200);

      const run = await fixture.run("gmail", { messages: [{ id: "large", body }] });

      expect(run).to.deep.include({ status: "completed", error: null });
      expect(fixture.promptWith("New mail").length).to.be.greaterThan(body.length);
    } finally {
      await fixture.close();
    }
  });
});
