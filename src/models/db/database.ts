import mongoose, { type Connection, type Model, mongo, type Schema } from "mongoose";
import { describeUnusable, type Unusable } from "../../shared/describeUnusable.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { deliverySchema } from "../deliveries/delivery.ts";
import { endedLoginSchema } from "../endedLogin.ts";
import { gmailMailboxSchema } from "../gmailMailbox.ts";
import { hookCallSchema } from "../hooks/hookCall.ts";
import { idempotencyKeySchema } from "../hooks/idempotencyKey.ts";
import { jobSchema } from "../jobs/job.ts";
import { hasOldSteps } from "../jobs/migrateSteps.ts";
import { payloadSchema } from "../jobs/payloads.ts";
import { runSchema } from "../runs/run.ts";
import { eventSchema } from "../sessions/event.ts";
import { messageSchema } from "../sessions/message.ts";
import { sessionSchema } from "../sessions/session.ts";
import { watchPrimaries } from "./caughtUpPrimary.ts";
import { DatabaseClock } from "./databaseClock.ts";
import { leaseSchema } from "./lease.ts";
import { isDuplicateKey, mapMongoErrors } from "./mongoErrors.ts";
import { patchDriverStuckWrite } from "./patchDriverStuckWrite.ts";

const SCHEMAS = {
  jobs: jobSchema,
  payloads: payloadSchema,
  runs: runSchema,
  hookCalls: hookCallSchema,
  sessions: sessionSchema,
  messages: messageSchema,
  events: eventSchema,
  deliveries: deliverySchema,
  idempotencyKeys: idempotencyKeySchema,
  endedLogins: endedLoginSchema,
  leases: leaseSchema,
  gmailMailboxes: gmailMailboxSchema,
};

/** The collections, as the driver's own: pipelines and documents go through as they are, checked before by the routes. */
export type Collections = {
  readonly [K in keyof typeof SCHEMAS]: (typeof SCHEMAS)[K] extends Schema<infer D>
    ? mongo.Collection<D & object>
    : never;
};

patchDriverStuckWrite();

const SELECTION_TIMEOUT_MS = 2_500;
const ANSWER_TIMEOUT_MS = 15_000;
/** Of a collection that is not there yet. */
const NAMESPACE_NOT_FOUND = 26;

/**
 * Connects to MongoDB. Every write is acknowledged by a majority and journaled; every read sees only such writes.
 * @param answerTimeoutMs how long the server may be silent about one act; 0: any time
 * @throws StartError when no server can be reached within a few seconds
 */
export async function connectDatabase(uri: string, { answerTimeoutMs = ANSWER_TIMEOUT_MS } = {}): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
    heartbeatFrequencyMS: 2_000, // how soon a server that is back is noticed
    socketTimeoutMS: answerTimeoutMs,
    waitQueueTimeoutMS: 5_000,
    maxPoolSize: 100,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    // each by itself too: what the address says of one would win over the whole
    ...{ w: "majority", journal: true, writeConcern: { w: "majority", journal: true } },
    ...{ readConcernLevel: "majority", readConcern: { level: "majority" } },
    readPreference: "primary", // a secondary may not know yet what was just acknowledged
  });
  const clock = new DatabaseClock();
  try {
    await connection.asPromise();
    const hello = await connection.db?.command({ hello: 1 });
    if (hello?.localTime) clock.read(hello.localTime);
  } catch (error) {
    await connection.close().catch(() => {});
    throw new StartError(unreachable(uri, error));
  }
  if (connection.db) watchPrimaries(connection.db, connection.getClient());
  connection.getClient().on("serverHeartbeatSucceeded", ({ reply }) => {
    if (reply.isWritablePrimary && reply.localTime) clock.read(reply.localTime);
  });
  return new Database(connection, clock);
}

const unreachable = (uri: string, error: unknown): string =>
  describeUnusable("MongoDB", uri, reasonOf(error), "MONGODB_URI (mongodb.uri in the configuration)");

/** What the server said, or what happened on the way to each of its members. */
function reasonOf(error: unknown): Unusable {
  if (error instanceof mongo.MongoServerError) return { answer: String(error.codeName ?? error.code) };
  const { reason } = error as { reason?: mongo.TopologyDescription };
  const members = [...(reason?.servers?.values() ?? [])];
  const codes = members.flatMap((member) => (member.error?.cause as NodeJS.ErrnoException | undefined)?.code ?? []);
  return { code: [...new Set(codes)].join(", ") };
}

/** One connection pool and the collections behind it. Closed by whoever opened it. */
export class Database {
  readonly collections: Collections;
  /** MongoDB's time, which all processes share. */
  readonly clock: DatabaseClock;
  readonly #connection: Connection;
  readonly #models: Model<never>[];

  constructor(connection: Connection, clock: DatabaseClock) {
    this.#connection = connection;
    this.clock = clock;
    const { db } = connection;
    if (!db) throw new Error("the connection is not open");
    const entries = Object.entries(SCHEMAS) as [string, Schema][];
    this.#models = entries.map(([name, schema]) => connection.model(name, schema, name) as unknown as Model<never>);
    this.collections = Object.fromEntries(
      entries.map(([name]) => [name, db.collection(name)]),
    ) as unknown as Collections;
  }

  /**
   * Makes the indexes that are missing, one after the other: all at once they wait for connections for longer than a request
   * may where the server is busy. Never drops one. Run by `npm run release`.
   * @throws StartError when something that is there is in the way of one
   */
  async createIndexes(): Promise<void> {
    for (const model of this.#models) {
      await model.createIndexes().catch((error: unknown) => {
        throw obstacle(model.collection.name, error) ?? error;
      });
    }
  }

  /**
   * @throws StartError when an index of this version is missing, without which a key could be stored twice, or steps are
   *   stored as versions before 2 did
   */
  async checkPrepared(): Promise<void> {
    const areThere = await Promise.all(this.#models.map(hasIndexes));
    const lacking = this.#models.filter((_, i) => !areThere[i]).map(({ collection }) => collection.name);
    if (lacking.length > 0) {
      throw new StartError(
        `MongoDB lacks indexes on ${lacking.join(", ")}: run \`npm run release\` once, then start again.`,
      );
    }
    if (await hasOldSteps(this.collections.jobs.db)) {
      throw new StartError(
        "MongoDB holds steps as an earlier version stored them: stop all processes of that version, run `npm run release` once, then start again.",
      );
    }
  }

  /** @throws AppError unavailable */
  async ping(): Promise<void> {
    await mapMongoErrors(async () => this.#connection.db?.command({ ping: 1 }));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** Of an index that is there with other options, or other keys under its name. */
const OTHER_INDEX = [85, 86];

function obstacle(collection: string, error: unknown): StartError | undefined {
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (OTHER_INDEX.includes(Number(error.code))) {
    const words = `An index of ${collection} is there with other options than this version's: drop it, then run \`npm run release\` again.`;
    return new StartError(`${words} MongoDB says: ${error.message}`);
  }
  if (!isDuplicateKey(error)) return undefined;
  const words = `A key of ${collection} is there twice, and may be there once: delete one of the documents, then run \`npm run release\` again.`;
  return new StartError(`${words} MongoDB says: ${error.message}`);
}

async function hasIndexes(model: Model<never>): Promise<boolean> {
  const present = await model.listIndexes().catch((error) => {
    if (error instanceof mongo.MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
    throw new StartError("MongoDB does not say which indexes it has: see that it runs, then start again.");
  });
  const said = (key: object, unique = false) => JSON.stringify([key, unique]);
  const known = new Set(present.map(({ key, unique }) => said(key, unique)));
  return model.schema.indexes().every(([fields, { unique }]) => known.has(said(fields, Boolean(unique))));
}
