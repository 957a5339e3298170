import { expect } from "chai";
import mongoose, { type mongo, Schema } from "mongoose";
import { connectDatabase, type Database } from "../../../src/models/database.ts";
import { Documents } from "../../../src/models/db/documents.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { clearFailPoint, failFinds, failWrites } from "../../support/servers/failPoints.ts";
import { mongoUri, useOwnMongod } from "../../support/servers/servers.ts";

interface Row {
  _id: number;
  name?: string | null;
  free?: object;
}

const ROW = new Schema<Row>(
  { _id: Number, name: String, free: {} },
  { minimize: false, versionKey: false, id: false, autoCreate: false, autoIndex: false },
);
const FEW = Array.from({ length: 20 }, (_, _id) => ({ _id }));
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

describe("Documents", () => {
  useOwnMongod();
  let database: Database;
  let connection: mongoose.Connection;
  let rows: Documents<Row>;
  before(async () => {
    const uri = await mongoUri("documents");
    database = await connectDatabase(uri);
    connection = await mongoose
      .createConnection(uri, { bufferCommands: false, readConcernLevel: "majority", w: "majority" })
      .asPromise();
    rows = new Documents(connection, "rows", ROW as unknown as Schema<Row>);
  });
  after(() => Promise.all([database.close(), connection.close()]));
  beforeEach(() => rows.deleteMany({}));
  afterEach(clearFailPoint);

  for (const [title, how] of [
    ["is cut off", { closeConnection: true }],
    ["reaches a server that is stopping", { errorCode: 91 }],
    ["reaches a server that is no longer the primary", { errorCode: 10107 }],
  ] as const) {
    it(`reads again after a query that ${title}`, async () => {
      await rows.insertMany(FEW);
      await failFinds(rows.native, 1, how);

      expect(await rows.find({})).to.have.lengthOf(FEW.length);
    });

    it(`throws unavailable if the query twice ${title}`, async () => {
      await failFinds(rows.native, 2, how);

      expect(await codeOf(rows.find({}))).to.equal("unavailable");
    });
  }

  it("throws unavailable for each kind of read that MongoDB does not answer", async () => {
    const reads: [command: string, read: () => Promise<unknown>][] = [
      ["find", () => rows.findOne({})],
      ["find", () => rows.exists({})],
      ["find", () => rows.stream({}).next()],
      ["find", () => rows.inBatches(5, {}).next()],
      ["aggregate", () => rows.aggregate([{ $match: {} }])],
      ["aggregate", () => rows.aggregateStream([{ $match: {} }]).next()],
      ["aggregate", () => rows.countDocuments({})],
      ["distinct", () => rows.distinct("name", {})],
    ];
    for (const [command, read] of reads) {
      await failWrites(2, { errorCode: 10107, namespace: rows.native.namespace }, [command]);
      expect(await codeOf(read()), command).to.equal("unavailable");
      await clearFailPoint();
    }
  });

  it("throws unavailable for each kind of write that MongoDB does not take", async () => {
    const writes: [command: string, write: () => Promise<unknown>][] = [
      ["insert", () => rows.insertOne({ _id: 1 })],
      ["insert", () => rows.insertMany([{ _id: 2 }, { _id: 3 }], { ordered: false })],
      ["update", () => rows.updateOne({ _id: 1 }, { $set: { name: "a" } })],
      ["update", () => rows.updateMany({}, [{ $set: { name: "a" } }])],
      ["update", () => rows.replaceOne({ _id: 1 }, { name: "a" })],
      ["update", () => rows.bulkWrite([{ updateOne: { filter: { _id: 1 }, update: { $set: { name: "a" } } } }])],
      ["findAndModify", () => rows.findOneAndUpdate({ _id: 1 }, { $set: { name: "a" } })],
      ["findAndModify", () => rows.upsertOne({ _id: 1 }, { $set: { name: "a" } })],
      ["delete", () => rows.deleteOne({ _id: 1 })],
      ["delete", () => rows.deleteMany({ _id: 1 })],
    ];
    for (const [command, write] of writes) {
      await failWrites(2, { errorCode: 10107, namespace: rows.native.namespace }, [command]);
      expect(await codeOf(write()), command).to.equal("unavailable");
      await clearFailPoint();
    }
  });

  it("returns only writes that a majority of the replica set has", async () => {
    await rows.native.db.command({ profile: 2 });

    await rows.find({ _id: 1 });

    await rows.native.db.command({ profile: 0 });
    const profile = rows.native.db.collection("system.profile");
    const [asked] = await profile.find({ "command.find": "rows" }).toArray();
    expect(asked?.command.readConcern).to.include({ level: "majority" });
  });

  it("stores and returns values as they are: nothing is added, dropped or cast", async () => {
    const odd = JSON.parse('{ "constructor": {}, "prototype": 1, "__proto__": { "toString": 1 } }');
    const row = { _id: 1, name: null, free: { empty: {}, list: [{}], "a.b": 1, $c: null, odd } };
    await rows.insertMany([row]);
    await rows.updateOne({ _id: 2 }, [{ $set: { free: { $literal: { empty: {}, $c: 1, odd } } } }], { upsert: true });

    expect(await rows.find({}, { sort: { _id: 1 } })).to.deep.equal([row, { _id: 2, free: { empty: {}, $c: 1, odd } }]);
  });

  it("upsertOne tells whether the document is new, also if concurrent calls create it", async () => {
    const update: mongo.Document[] = [{ $set: { name: { $ifNull: ["$name", "first"] } } }];
    const results = await Promise.all(Array.from({ length: 10 }, () => rows.upsertOne({ _id: 7 }, update)));

    expect(results.filter(({ created }) => created)).to.have.lengthOf(1);
    expect(results.map(({ document }) => document)).to.deep.equal(Array(10).fill({ _id: 7, name: "first" }));
  });

  it("yields documents in batches, and closes the cursor of a reader that stops early", async () => {
    await rows.insertMany(FEW);
    const sizes: number[] = [];
    for await (const batch of rows.inBatches(8, {})) sizes.push(batch.length);
    for await (const _ of rows.stream({}, { batchSize: 2 })) break;

    expect(sizes).to.deep.equal([8, 8, 4]);
    const { metrics } = await rows.native.db.command({ serverStatus: 1 });
    expect(metrics.cursor.open.total).to.equal(0);
  });
});
