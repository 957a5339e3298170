import { expect } from "chai";
import type { mongo } from "mongoose";
import { connectDatabase, type Database } from "../../../src/models/db/database.ts";
import { readAll } from "../../../src/models/db/readAll.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { clearFailPoint, failFinds } from "../../support/servers/failPoints.ts";
import { mongoUri, useOwnMongod } from "../../support/servers/servers.ts";

interface Row {
  _id: number;
}

describe("readAll", () => {
  useOwnMongod();
  let database: Database;
  let rows: mongo.Collection<Row>;
  before(async () => {
    database = await connectDatabase(await mongoUri("read-all"));
    rows = database.collections.jobs.db.collection<Row>("rows");
  });
  after(() => database.close());
  beforeEach(() => rows.deleteMany({}));
  afterEach(clearFailPoint);

  const few = Array.from({ length: 20 }, (_, _id) => ({ _id }));

  for (const [title, how] of [
    ["is cut off", { closeConnection: true }],
    ["reaches a server that is stopping", { errorCode: 91 }],
    ["reaches a server that is no longer the primary", { errorCode: 10107 }],
  ] as const) {
    it(`reads again after a query that ${title}`, async () => {
      await rows.insertMany(few);
      await failFinds(rows, 1, how);

      expect(await readAll(rows, {})).to.have.lengthOf(few.length);
    });

    it(`throws unavailable if the query twice ${title}`, async () => {
      await failFinds(rows, 2, how);

      const failed = await readAll(rows, {}).catch((error: unknown) => error);

      expect(failed).to.be.instanceOf(AppError).with.property("code", "unavailable");
    });
  }

  it("returns only writes that a majority of the replica set has", async () => {
    await rows.db.command({ profile: 2 });

    await readAll(rows, { _id: 1 });

    await rows.db.command({ profile: 0 });
    const [asked] = await rows.db.collection("system.profile").find({ "command.find": "rows" }).toArray();
    expect(asked?.command.readConcern).to.include({ level: "majority" });
  });
});
