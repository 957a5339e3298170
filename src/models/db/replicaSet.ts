import { setTimeout as delay } from "node:timers/promises";
import mongoose, { type mongo } from "mongoose";

const NOT_YET_INITIALIZED = 94;

/**
 * Makes the mongod at that port of 127.0.0.1 the primary of a replica set of one. A set that it already is stays, its
 * address is corrected when the port is another than before. Resolves when it accepts writes.
 * @throws Error when that is not so within `withinMs`; for one, when a program holds the port from before and does not
 *   answer there, because the mongod asks at that address whether it is itself before it takes a correction
 */
export async function ensureReplicaSet(name: string, port: number, withinMs: number): Promise<void> {
  const host = `127.0.0.1:${port}`;
  const client = new mongoose.mongo.MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: withinMs,
  });
  try {
    await configure(client.db("admin"), name, host);
    await untilPrimary(client.db("admin"), Date.now() + withinMs);
  } finally {
    await client.close();
  }
}

async function configure(admin: mongo.Db, name: string, host: string): Promise<void> {
  const config = await readConfig(admin);
  if (!config) {
    await admin.command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } });
  } else if (config.members[0]?.host !== host) {
    const members = [{ ...config.members[0], host }];
    await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true });
  }
}

interface ReplicaSetConfig {
  readonly version: number;
  readonly members: readonly { readonly host: string }[];
}

async function readConfig(admin: mongo.Db): Promise<ReplicaSetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config;
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError && error.code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}

async function untilPrimary(admin: mongo.Db, deadline: number): Promise<void> {
  while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
    if (Date.now() > deadline) throw new Error("the replica set has no primary");
    await delay(20);
  }
}
