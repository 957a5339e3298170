import { expect } from "chai";
import { mongo } from "mongoose";
import { runInProcess } from "../support/cli.ts";
import { mongoUri } from "../support/servers/servers.ts";
import { expectRecorded } from "./recorded.ts";

describe("the indexes", () => {
  let client: mongo.MongoClient;
  let uri: string;
  before(async () => {
    uri = await mongoUri(`frozen-indexes-${process.pid}`);
    client = await mongo.MongoClient.connect(uri);
  });
  after(async () => {
    await client.db().dropDatabase();
    await client.close();
  });

  it("that `signalbox release` makes in an empty database are the recorded ones", async () => {
    const { code, stderr } = await runInProcess(["release"], { MONGODB_URI: uri });

    expect(code, stderr).to.equal(0);
    const collections = await client.db().collections();
    const indexes = await Promise.all(
      collections.map(async (collection) => [collection.collectionName, await indexesOf(collection)]),
    );
    expectRecorded("indexes", Object.fromEntries(indexes));
  });
});

async function indexesOf(collection: mongo.Collection): Promise<object> {
  const indexes = await collection.listIndexes().toArray();
  return Object.fromEntries(indexes.map(({ name, v, key, ...options }) => [name, { key: inOrder(key), ...options }]));
}

/** The fields of an index as text: their order counts. */
const inOrder = (key: object): string =>
  Object.entries(key)
    .map(([field, direction]) => `${field}: ${direction}`)
    .join(", ");
