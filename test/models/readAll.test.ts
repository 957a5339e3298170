import { expect } from "chai";
import type { mongo } from "mongoose";
import { connectDatabase, type Database } from "../../src/models/database.ts";
import { readAll } from "../../src/models/readAll.ts";
import { AppError } from "../../src/shared/errors.ts";
import { loseFinds, loseNoMore } from "../support/lostAnswers.ts";
import { mongoUri, useOwnMongod } from "../support/servers.ts";

interface Row {
  _id: number;
  text?: string;
  at?: Date;
  parts?: { name: string }[];
}

const MIB = 1024 * 1024;

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
  afterEach(loseNoMore);

  const few = Array.from({ length: 20 }, (_, _id) => ({ _id, at: new Date(_id), parts: [{ name: `part ${_id}` }] }));

  for (const options of [{}, { projection: { at: 1 } }, { sort: { _id: -1 }, limit: 3 }] as const) {
    it(`reads what a cursor would with ${JSON.stringify(options)}`, async () => {
      const query = { _id: { $gte: 5 } };
      await rows.insertMany(few);

      const read = await readAll(rows, query, options);

      expect(read).to.deep.equal(await rows.find(query, options).toArray());
      expect(read).to.have.lengthOf("limit" in options ? 3 : 15);
    });
  }

  it("reads a document that is nearly as large as an answer may be", async () => {
    const text = "x".repeat(15.9 * MIB);
    await rows.insertOne({ _id: 1, text });

    const read = await readAll(rows, { _id: { $in: [1, 2] } });

    expect(read).to.deep.equal([{ _id: 1, text }]);
  });

  it("reads also what is too much for one answer, and leaves nothing open", async () => {
    const open = async () => (await rows.db.command({ serverStatus: 1 })).metrics.cursor.open.total as number;
    const large = Array.from({ length: 10 }, (_, _id) => ({ _id, text: String(_id).repeat(2 * MIB) }));
    for (const row of large) await rows.insertOne(row);
    const before = await open();

    const read = await readAll(rows, {}, { sort: { _id: 1 } });

    expect(read).to.deep.equal(large);
    expect(await open()).to.equal(before);
  });

  for (const [title, how] of [
    ["is cut off", { closeConnection: true }],
    ["comes to a server that stops", { errorCode: 91 }],
    ["comes to one that is no longer the primary", { errorCode: 10107 }],
  ] as const) {
    it(`asks once more where it ${title}`, async () => {
      await rows.insertMany(few);
      await loseFinds(rows, 1, how);

      expect(await readAll(rows, {})).to.have.lengthOf(few.length);
    });

    it(`says that MongoDB cannot be reached where the second time too it ${title}`, async () => {
      await loseFinds(rows, 2, how);

      const failed = await readAll(rows, {}).catch((error: unknown) => error);

      expect(failed).to.be.instanceOf(AppError).with.property("code", "unavailable");
    });
  }

  it("sees only what a majority has, as every read", async () => {
    await rows.db.command({ profile: 2 });

    await readAll(rows, { _id: 1 });

    await rows.db.command({ profile: 0 });
    const [asked] = await rows.db.collection("system.profile").find({ "command.find": "rows" }).toArray();
    expect(asked?.command.readConcern).to.include({ level: "majority" });
  });
});
