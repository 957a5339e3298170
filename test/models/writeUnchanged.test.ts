import { expect } from "chai";
import { mongo } from "mongoose";
import { writeUnchanged } from "../../src/models/writeUnchanged.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { LOST, loseNoMore, loseWrites } from "../support/lostAnswers.ts";

describe("writeUnchanged", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
  afterEach(loseNoMore);

  const jobOf = async (jobId: string) => (await app.stores.jobs.put(jobId, {})).job;

  for (const [title, how] of LOST) {
    it(`sends what ${title} once more, and knows it for its own`, async () => {
      const [one, other] = [await jobOf("one"), await jobOf("other")];
      const insert = { ...one, _id: new mongo.ObjectId(), jobId: `new ${title}` };
      await loseWrites(1, how);

      const missed = await writeUnchanged(app.stores.jobs.collection, [
        { was: one, set: { message: title } },
        { was: { ...other, rev: new mongo.ObjectId() }, set: { message: "somebody was faster" } },
        { insert },
      ]);

      expect([...missed]).to.deep.equal([1]);
      expect(await app.stores.jobs.find("one")).to.have.property("message", title);
      expect(await app.stores.jobs.find("other")).to.have.property("message", null);
      expect(await app.stores.jobs.find(insert.jobId)).to.have.property("name", null);
    });
  }

  it("says that MongoDB cannot be reached when the second try fails too", async () => {
    const was = await jobOf("one");
    await loseWrites(2);

    const failed = await writeUnchanged(app.stores.jobs.collection, [{ was, set: { message: "no" } }]).catch(
      (error: unknown) => error,
    );

    expect(failed).to.have.property("code", "unavailable");
    expect(await app.stores.jobs.find("one")).to.have.property("message", was.message);
  });
});
