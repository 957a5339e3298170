import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { connectDatabase, type Database } from "../../../src/models/database.ts";
import { mongoUri } from "../../support/servers/servers.ts";

describe("The stored format of documents", () => {
  let database: Database;
  beforeEach(async () => {
    database = await connectDatabase(await mongoUri(`test-${randomUUID()}`));
  });
  afterEach(async () => {
    await database.collections.jobs.db.dropDatabase();
    await database.close();
  });

  const db = () => database.collections.jobs.db;
  const messageOf = (act: () => Promise<void>) =>
    act().then(
      () => "no error",
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it("is stored by prepare, which may be repeated", async () => {
    await Promise.all([database.prepare(), database.prepare()]);
    await database.prepare();

    expect(await db().collection("format").find().toArray()).to.deep.equal([{ _id: "format", format: 1 }]);
    expect(await messageOf(() => database.checkPrepared())).to.equal("no error");
  });

  it("is needed to start, so that indexes alone do not count as prepared", async () => {
    await database.prepare();
    await db().collection("format").deleteMany({});

    const refused = await messageOf(() => database.checkPrepared());
    await database.prepare();

    expect(refused).to.match(/^StartError: MongoDB is not prepared .* run `npm run release` once, then start again\.$/);
    expect(await messageOf(() => database.checkPrepared())).to.equal("no error");
  });

  it("of another version is refused by prepare and at a start, with what to do", async () => {
    await database.prepare();
    await db()
      .collection("format")
      .updateOne({}, { $set: { format: 2 } });

    const refusals = [await messageOf(() => database.prepare()), await messageOf(() => database.checkPrepared())];

    for (const refusal of refusals)
      expect(refusal).to.match(
        /^StartError: The database "test-.*" holds documents in format 2, and this version reads format 1 only\. .* set MONGODB_URI to an empty database and run `npm run release`\.$/,
      );
  });

  it("of a development version, with steps in their own collection, is refused before anything is changed", async () => {
    await db().collection("steps").insertOne({ stepKey: "download" });

    const refused = await messageOf(() => database.prepare());

    expect(refused).to.match(
      /^StartError: The database .* in a format of a development version, .* Nothing was changed/,
    );
    expect((await db().listCollections().toArray()).map(({ name }) => name)).to.deep.equal(["steps"]);
  });
});
