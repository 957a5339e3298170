import { connectDatabase, type Database } from "../../../src/models/db/database.ts";
import { mongoUri } from "./servers.ts";
import { expectDefinedDocuments } from "./storedDocuments.ts";

/** The names of unused databases with indexes, by server. */
const free = new Map<string, string[]>();
let made = 0;

/**
 * Returns an empty database with all indexes for one app. Reuses a released one after emptying it, which takes a tenth
 * of the time of creating the indexes. `release` checks that the documents match their definitions, and closes the connections.
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
  else await empty(database);
  return {
    ...{ uri, database },
    async release() {
      const isLarge = await isLargeDatabase(database);
      const { db } = database.collections.jobs;
      try {
        await (isLarge ? db.dropDatabase() : expectDefinedDocuments(db));
      } finally {
        await database.close();
        if (!isLarge) names.push(name);
      }
    },
  };
}

/** Maximum documents in a reused collection: MongoDB scans over deleted documents for minutes. */
const MAX_DELETED = 5_000;

async function isLargeDatabase({ collections }: Database): Promise<boolean> {
  const all: { estimatedDocumentCount(): Promise<number> }[] = Object.values(collections);
  const counts = await Promise.all(all.map((collection) => collection.estimatedDocumentCount().catch(() => 0)));
  return Math.max(...counts) > MAX_DELETED;
}

/** Deletes all documents and keeps the indexes. */
export async function empty({ collections }: Database): Promise<void> {
  await Promise.all(Object.values(collections).map((collection) => collection.deleteMany({})));
}
