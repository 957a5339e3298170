import { mongo } from "mongoose";

/** Returns all documents of a database, by collection. Wait for the `settled()` of its app first. */
export async function readAll(uri: string): Promise<Record<string, mongo.Document[]>> {
  const client = await mongo.MongoClient.connect(uri);
  try {
    const names = (await client.db().listCollections().toArray()).map(({ name }) => name).filter((n) => n !== "leases");
    const entries = names.sort().map(async (name) => {
      const documents = await client.db().collection<{ _id: string }>(name).find().sort({ _id: 1 }).toArray();
      return [name, documents] as const;
    });
    return Object.fromEntries((await Promise.all(entries)).filter(([, documents]) => documents.length > 0));
  } finally {
    await client.close();
  }
}
