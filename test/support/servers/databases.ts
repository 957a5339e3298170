import { mongo } from "mongoose";
import { connectDatabase, type Database, SCHEMAS } from "../../../src/models/database.ts";
import { mongoUri } from "./servers.ts";
import { expectDefinedDocuments } from "./storedDocuments.ts";

/** The names of empty databases with indexes, by server. */
const free = new Map<string, string[]>();
let made = 0;

/** Maximum documents in a reused collection: MongoDB scans over deleted documents for minutes. */
const MAX_DELETED = 5_000;

/**
 * Returns an empty database with all indexes for one app. Reuses a released one, because creating the indexes takes most of
 * the time of a test. `release` checks that the documents match their definitions, deletes them, and closes the connections.
 */
export async function acquireDatabase(): Promise<{ uri: string; database: Database; release(): Promise<void> }> {
  const { host } = new URL(await mongoUri(""));
  const names = free.get(host) ?? [];
  free.set(host, names);
  const reused = names.pop();
  const name = reused ?? `test-${process.pid}-${made++}`;
  const uri = await mongoUri(name);
  const database = await connectDatabase(uri);
  if (reused === undefined) await database.prepare();
  else await empty(database); // A process of the last test may have written after the release.
  return {
    uri,
    database,
    async release() {
      const { db } = database.collections.jobs;
      try {
        const used = await usedCollections(db);
        if (await hasLargeCollection(used)) return void (await db.dropDatabase());
        await expectDefinedDocuments(used);
        await deleteAll(used);
        names.push(name);
      } catch (error) {
        if (!(error instanceof mongo.MongoServerSelectionError)) throw error; // A server that was stopped has nothing to check.
      } finally {
        await database.close();
      }
    },
  };
}

async function hasLargeCollection(collections: readonly mongo.Collection[]): Promise<boolean> {
  for (const collection of collections) {
    if ((await collection.estimatedDocumentCount()) > MAX_DELETED) return true;
  }
  return false;
}

/** Deletes all documents and keeps the indexes. */
export async function empty({ collections }: Database): Promise<void> {
  await deleteAll(await usedCollections(collections.jobs.db));
}

/** Deletes from one collection after the other, because concurrent commands would open a connection each. */
async function deleteAll(collections: readonly mongo.Collection[]): Promise<void> {
  for (const collection of collections) await collection.deleteMany({});
}

/** Returns the collections that have documents, by one request. */
async function usedCollections(db: mongo.Db): Promise<mongo.Collection[]> {
  const [first = "", ...others] = Object.keys(SCHEMAS);
  const nameIfUsed = (name: string) => [{ $limit: 1 }, { $project: { _id: 0, name: { $literal: name } } }];
  const unions = others.map((name) => ({ $unionWith: { coll: name, pipeline: nameIfUsed(name) } }));
  const used = await db
    .collection(first)
    .aggregate([...nameIfUsed(first), ...unions])
    .toArray();
  return used.map(({ name }) => db.collection(String(name)));
}
