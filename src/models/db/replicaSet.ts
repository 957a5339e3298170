import { setTimeout as delay } from "node:timers/promises";
import mongoose, { type mongo } from "mongoose";
import { isTransient } from "./mongoErrors.ts";

/** The pause between two requests to a mongod that is not ready, in milliseconds. */
const POLL_MS = 20;
/** The code of a mongod that has no replica set yet. */
const NOT_YET_INITIALIZED = 94;

/**
 * Makes the mongod at a port of 127.0.0.1 the primary of a replica set with one member, and resolves once it accepts writes. An
 * existing replica set stays. Its address is corrected if the port has changed.
 * @throws Error if this takes longer than `withinMs`. One reason is a program that occupies the former port without answering:
 *   the mongod connects to its former address before it accepts another one
 */
export async function ensureReplicaSet(name: string, port: number, withinMs: number): Promise<void> {
  const host = `127.0.0.1:${port}`;
  const deadline = Date.now() + withinMs;
  const client = new mongoose.mongo.MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: withinMs,
  });
  try {
    for (;;) {
      try {
        await configure(client.db("admin"), name, host);
        await waitForPrimary(client.db("admin"), Date.now() + withinMs);
        return;
      } catch (error) {
        // A mongod that finds itself under another address closes its connections shortly after it has begun to listen.
        if (!isTransient(error) || Date.now() > deadline) throw error;
        await delay(POLL_MS);
      }
    }
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

async function waitForPrimary(admin: mongo.Db, deadline: number): Promise<void> {
  while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
    if (Date.now() > deadline) throw new Error("the replica set has no primary");
    await delay(POLL_MS);
  }
}
