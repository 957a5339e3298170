import mongoose, { type Connection, type Model, mongo, type Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { StartError } from "../shared/process/lifecycle.ts";
import { ownCommand } from "../shared/process/ownCommands.ts";
import { auditSchema } from "./audit.ts";
import { budgetSchema, budgetSpentSchema } from "./budgets/budget.ts";
import { chatUpdateSchema } from "./chat/chatUpdate.ts";
import { watchPrimaries } from "./db/caughtUpPrimary.ts";
import { describeConnectionError, NotInitiatedError } from "./db/connectionError.ts";
import { Documents } from "./db/documents.ts";
import { checkFormat, storeFormat } from "./db/format.ts";
import { leaseSchema } from "./db/lease.ts";
import { isDuplicateKey, mapMongoErrors } from "./db/mongoErrors.ts";
import { patchDriverStuckWrite } from "./db/patchDriverStuckWrite.ts";
import { deliverySchema } from "./deliveries/delivery.ts";
import { threadLinkSchema } from "./deliveries/threadLink.ts";
import { endedLoginSchema } from "./endedLogin.ts";
import { jobFiguresSchema } from "./figures/jobFigures.ts";
import { gateSchema } from "./gates/gate.ts";
import { gmailMailboxSchema } from "./gmailMailbox.ts";
import { idempotencyKeySchema } from "./idempotencyKey.ts";
import { hookRequestSchema } from "./intake/hookRequest.ts";
import { jobSchema } from "./jobs/job.ts";
import { logChunkSchema, logSizeSchema } from "./jobs/log/logChunk.ts";
import { payloadSchema } from "./jobs/payloads/payloads.ts";
import { alertSchema } from "./notifications/alert.ts";
import { expectationSchema } from "./notifications/expectation.ts";
import { lastScanSchema } from "./notifications/lastScan.ts";
import { liveMessageSchema } from "./notifications/liveMessage.ts";
import { outboxSchema } from "./notifications/outboxRecord.ts";
import { spanSchema } from "./notifications/spans.ts";
import { hookCallSchema } from "./runs/hookCall.ts";
import { runSchema } from "./runs/run.ts";
import { mainEventSchema } from "./sessions/mainEvent.ts";
import { messageSchema } from "./sessions/message.ts";
import { sessionSchema } from "./sessions/session.ts";

/** The schema of each collection. */
export const SCHEMAS = {
  jobs: jobSchema,
  payloads: payloadSchema,
  logChunks: logChunkSchema,
  logSizes: logSizeSchema,
  jobFigures: jobFiguresSchema,
  gates: gateSchema,
  runs: runSchema,
  budgets: budgetSchema,
  budgetSpent: budgetSpentSchema,
  hookCalls: hookCallSchema,
  hookRequests: hookRequestSchema,
  sessions: sessionSchema,
  messages: messageSchema,
  events: mainEventSchema,
  deliveries: deliverySchema,
  threadLinks: threadLinkSchema,
  outbox: outboxSchema,
  spans: spanSchema,
  alerts: alertSchema,
  expectations: expectationSchema,
  lastScan: lastScanSchema,
  liveMessages: liveMessageSchema,
  idempotencyKeys: idempotencyKeySchema,
  chatUpdates: chatUpdateSchema,
  endedLogins: endedLoginSchema,
  audit: auditSchema,
  leases: leaseSchema,
  gmailMailboxes: gmailMailboxSchema,
};

type InferSchema<S> = S extends Schema<infer T> ? T : never;
/** The document type of each collection. */
type Stored = { readonly [K in keyof typeof SCHEMAS]: InferSchema<(typeof SCHEMAS)[K]> };

/** The documents of each collection. */
export type AllDocuments = { readonly [K in keyof Stored]: Documents<Stored[K]> };

/** The driver's collections, for tests. */
type Collections = { readonly [K in keyof Stored]: mongo.Collection<Stored[K]> };

patchDriverStuckWrite();

/** Maximum wait for a server that can take an operation. Clients retry after 503, so it is short. */
const SELECTION_TIMEOUT_MS = 2_500;
/** Maximum silence of the server during one operation. */
const ANSWER_TIMEOUT_MS = 15_000;
/** The code of a command on a collection that does not exist. */
const NAMESPACE_NOT_FOUND = 26;

/**
 * Connects to MongoDB. Every write is acknowledged by a majority and journaled, and every read returns only such writes.
 * @param answerTimeoutMs maximum silence of the server during one operation; 0 for no limit
 * @throws StartError if no server can be reached within a few seconds
 */
export async function connectDatabase(uri: string, { answerTimeoutMs = ANSWER_TIMEOUT_MS } = {}): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
    heartbeatFrequencyMS: 2_000, // How soon the client notices a server that is back.
    socketTimeoutMS: answerTimeoutMs,
    waitQueueTimeoutMS: 5_000,
    maxPoolSize: 100,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    // Each option is set twice, because options in the URI override only one of the two forms.
    w: "majority",
    journal: true,
    writeConcern: { w: "majority", journal: true },
    readConcernLevel: "majority",
    readConcern: { level: "majority" },
    readPreference: "primary", // A secondary may lack writes that were just acknowledged.
  });
  const clock = new DatabaseClock();
  try {
    await connection.asPromise();
    const hello = await connection.db?.command({ hello: 1 });
    if (hello?.isreplicaset) throw new NotInitiatedError();
    if (hello?.localTime) clock.read(hello.localTime);
  } catch (error) {
    await connection.close().catch(() => {});
    throw new StartError(describeConnectionError(uri, error));
  }
  if (connection.db) watchPrimaries(connection.db, connection.getClient());
  connection.getClient().on("serverHeartbeatSucceeded", ({ reply }) => {
    if (reply.isWritablePrimary && reply.localTime) clock.read(reply.localTime);
  });
  return new Database(connection, clock);
}

/** A connection pool with its collections. Whoever opens it closes it. */
export class Database {
  readonly documents: AllDocuments;
  readonly collections: Collections;
  /** The clock that all processes share. */
  readonly clock: DatabaseClock;
  readonly #connection: Connection;

  constructor(connection: Connection, clock: DatabaseClock) {
    this.#connection = connection;
    this.clock = clock;
    const all = Object.entries(SCHEMAS).map(([name, schema]) => new Documents(connection, name, schema as Schema));
    this.documents = Object.fromEntries(all.map((one) => [one.name, one])) as unknown as AllDocuments;
    this.collections = Object.fromEntries(all.map((one) => [one.name, one.native])) as unknown as Collections;
  }

  /**
   * Creates missing indexes and drops none, and stores the format of documents. `npm run release` calls it. Creates one index at
   * a time: on a busy server, all at once would keep requests waiting for connections.
   * @throws StartError if documents of another format are stored, or if an existing index or document prevents the creation of an
   *   index
   */
  async prepare(): Promise<void> {
    const { db } = this.collections.jobs;
    await checkFormat(db);
    for (const { model } of Object.values(this.documents)) {
      await model.createIndexes().catch((error: unknown) => {
        throw indexError(model.collection.name, error) ?? error;
      });
    }
    await storeFormat(db);
  }

  /**
   * Checks that `npm run release` has prepared the database for this version.
   * @throws StartError if an index is missing, without which a key could be stored twice, or if documents of another format are
   *   stored
   */
  async checkPrepared(): Promise<void> {
    const models = Object.values(this.documents).map(({ model }) => model as unknown as Model<never>);
    const arePrepared = await Promise.all(models.map(hasIndexes));
    const unprepared = models.filter((_, i) => !arePrepared[i]).map(({ collection }) => collection.name);
    if (unprepared.length > 0) {
      throw new StartError(
        `MongoDB lacks indexes on ${unprepared.join(", ")}: run \`${ownCommand("release")}\` once, then start again.`,
      );
    }
    if (!(await checkFormat(this.collections.jobs.db))) {
      throw new StartError(
        `MongoDB is not prepared for this version: run \`${ownCommand("release")}\` once, then start again.`,
      );
    }
  }

  /** Reads MongoDB's version and clock. */
  async readFacts(): Promise<{ version: string; localTime: Date }> {
    const { db } = this.#connection;
    const [build, hello] = await mapMongoErrors(() =>
      Promise.all([db?.command({ buildInfo: 1 }), db?.command({ hello: 1 })]),
    );
    return { version: String(build?.version), localTime: hello?.localTime ?? new Date() };
  }

  /** Reads the space on the disk of MongoDB, in bytes; null if the server does not report it. */
  async readDiskSpace(): Promise<{ free: number; total: number } | null> {
    const stats = await mapMongoErrors(async () => this.#connection.db?.command({ dbStats: 1 }));
    const { fsTotalSize: total, fsUsedSize: used } = stats ?? {};
    return typeof total === "number" && typeof used === "number" ? { free: total - used, total } : null;
  }

  /** Checks that MongoDB answers. */
  async ping(): Promise<void> {
    await mapMongoErrors(async () => this.#connection.db?.command({ ping: 1 }));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** The codes for an index that exists with other options, or with other keys under its name. */
const INDEX_CONFLICT = [85, 86];

/** Returns the error of an index that cannot be created, or undefined if the error has another cause. */
function indexError(collection: string, error: unknown): StartError | undefined {
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (INDEX_CONFLICT.includes(Number(error.code))) {
    const detail = `An index of the collection ${collection} has other options than this version needs. Drop the index, then run \`${ownCommand("release")}\` again.`;
    return new StartError(`${detail} MongoDB says: ${error.message}`);
  }
  if (!isDuplicateKey(error)) return undefined;
  const detail = `Two documents of the collection ${collection} have the same unique key. Delete one of them, then run \`${ownCommand("release")}\` again.`;
  return new StartError(`${detail} MongoDB says: ${error.message}`);
}

async function hasIndexes(model: Model<never>): Promise<boolean> {
  const present = await model.listIndexes().catch((error) => {
    if (error instanceof mongo.MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
    throw new StartError("The indexes of MongoDB cannot be read. Check that MongoDB is running, then start again.");
  });
  const describe = (key: object, unique = false) => JSON.stringify([key, unique]);
  const existing = new Set(present.map(({ key, unique }) => describe(key, unique)));
  return model.schema.indexes().every(([fields, { unique }]) => existing.has(describe(fields, Boolean(unique))));
}

/** Readings that are compared. A reading that arrives late makes MongoDB's time seem too early, so the latest time counts. */
const READINGS = 5;
/** Maximum difference between the clocks of synchronized machines, in milliseconds. */
const MAX_SKEW_MS = 1_000;

/**
 * The time that all processes share: the machine's if it differs from MongoDB's by at most a second, otherwise MongoDB's.
 * Processes need it because each reads leases and delays that others write, and the clocks of their machines may be wrong.
 * Between two readings, the time follows a monotonic clock, so that changes of the machine's clock do not matter.
 */
export class DatabaseClock implements Clock {
  /** MongoDB's time minus the monotonic time of this process, in milliseconds, at each reading. */
  #readings: readonly number[] = [];
  #aheadMs: number | undefined;

  /** Records a reading. @param time MongoDB's time, which has just arrived */
  read(time: Date): void {
    this.#readings = [...this.#readings, time.getTime() - performance.now()].slice(-READINGS);
    this.#aheadMs = Math.max(...this.#readings);
  }

  now(): Date {
    const own = Date.now();
    const shared = this.#aheadMs === undefined ? own : this.#aheadMs + performance.now();
    return new Date(Math.abs(own - shared) <= MAX_SKEW_MS ? own : shared);
  }
}
