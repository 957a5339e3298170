import { expect } from "chai";
import fc from "fast-check";
import { mongo } from "mongoose";
import { writeUnchanged } from "../../src/models/writeUnchanged.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { LOST, loseNoMore, loseWrites } from "../support/lostAnswers.ts";
import { runs } from "../support/random.ts";
import { useOwnMongod } from "../support/servers.ts";

/** One write: what the document has, what becomes of it before it is written, and what is written. */
interface Case {
  readonly rev: "one of its own" | "null" | "none";
  readonly since: "nothing" | "changed" | "deleted";
  readonly message: string;
  readonly had: number;
  readonly gives: number | undefined;
}

interface Kept {
  readonly _id: mongo.ObjectId;
  readonly jobId: string;
  readonly rev: mongo.ObjectId | null;
  readonly message: string;
  readonly progress: number;
}

describe("writeUnchanged", () => {
  useOwnMongod();
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

  it("changes what is as it was read, and nothing else, with what each is given", async () => {
    const jobs = app.stores.jobs.collection as unknown as mongo.Collection<Kept>;
    const computing = { progress: (given: string) => ({ $max: ["$progress", given] }) };
    const cases: fc.Arbitrary<Case> = fc.record({
      rev: fc.constantFrom("one of its own", "null", "none"),
      since: fc.constantFrom("nothing", "changed", "deleted"),
      message: fc.constantFrom("$message", "{ $literal: 1 }", "said"),
      ...{ had: fc.nat(100), gives: fc.option(fc.nat(100), { nil: undefined }) },
    });

    const check = async (all: readonly Case[]) => {
      const read = all.map(({ rev, had }, i) => {
        const job = { _id: new mongo.ObjectId(), jobId: `any ${i}`, message: "before", progress: had };
        return (rev === "none" ? job : { ...job, rev: rev === "null" ? null : new mongo.ObjectId() }) as Kept;
      });
      const those = (what: Case["since"]) => ({
        _id: { $in: read.flatMap(({ _id }, i) => (all[i]?.since === what ? [_id] : [])) },
      });
      await jobs.deleteMany({});
      await jobs.insertMany(read);
      await jobs.updateMany(those("changed"), { $set: { rev: new mongo.ObjectId() } });
      await jobs.deleteMany(those("deleted"));
      const missed = await writeUnchanged(
        jobs,
        all.map(({ message, gives: progress }, i) => {
          return { was: read[i] as Kept, set: { message }, ...(progress !== undefined && { given: { progress } }) };
        }),
        { computing },
      );
      const isOurs = ({ since }: Case) => since === "nothing";
      expect([...missed]).to.deep.equal([...all.keys()].filter((i) => !isOurs(all[i] as Case)));
      const found = await jobs.find({}, { sort: { _id: 1 } }).toArray();
      const left = all.filter(({ since }) => since !== "deleted");
      expect(found.map(({ message, progress }) => ({ message, progress }))).to.deep.equal(
        left.map((one) =>
          isOurs(one)
            ? { message: one.message, progress: Math.max(one.had, one.gives ?? 0) }
            : { message: "before", progress: one.had },
        ),
      );
    };

    await fc.assert(fc.asyncProperty(fc.array(cases, { minLength: 1, maxLength: 12 }), check), runs(60));
  });

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
