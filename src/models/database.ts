import mongoose, { type Connection, type Model, mongo } from "mongoose";
import { StartError } from "../shared/lifecycle.ts";
import { type DeletionDoc, deletionSchema } from "./deletion.ts";
import { guard } from "./guard.ts";
import { type JobDoc, jobSchema } from "./job.ts";
import { type StepDoc, stepSchema } from "./step.ts";

/** The collections, as the driver's own: pipelines and documents go through as they are, checked before by the routes. */
export interface Collections {
  readonly jobs: mongo.Collection<JobDoc>;
  readonly steps: mongo.Collection<StepDoc>;
  readonly deletions: mongo.Collection<DeletionDoc>;
}

const SELECTION_TIMEOUT_MS = 2_500;

/**
 * Connects to MongoDB. Every write is acknowledged by a majority and journaled; every read sees only such writes.
 * @throws StartError when no server can be reached within a few seconds
 */
export async function connectDatabase(uri: string): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
    heartbeatFrequencyMS: 2_000, // how soon a server that is back is noticed
    socketTimeoutMS: 15_000,
    waitQueueTimeoutMS: 5_000,
    maxPoolSize: 100,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    writeConcern: { w: "majority", journal: true },
    readConcern: { level: "majority" },
  });
  try {
    await connection.asPromise();
    await connection.db?.command({ ping: 1 });
  } catch (error) {
    await connection.close().catch(() => {});
    throw new StartError(unreachable(uri, error));
  }
  return new Database(connection);
}

function unreachable(uri: string, error: unknown): string {
  const hosts = uri
    .replace(/^mongodb(\+srv)?:\/\//, "")
    .replace(/^[^/]*@/, "")
    .replace(/[/?].*$/, "");
  const reason = error instanceof mongo.MongoServerError ? ` (${error.codeName ?? error.code})` : "";
  return `MongoDB at ${hosts} cannot be used${reason}: start it, or correct MONGODB_URI (mongodb.uri in the configuration).`;
}

/** One connection pool and the collections behind it. Closed by whoever opened it. */
export class Database {
  readonly collections: Collections;
  readonly #connection: Connection;
  readonly #models: Model<never>[];

  constructor(connection: Connection) {
    this.#connection = connection;
    const jobs = connection.model("Job", jobSchema, "jobs");
    const steps = connection.model("Step", stepSchema, "steps");
    const deletions = connection.model("Deletion", deletionSchema, "deletions");
    this.#models = [jobs, steps, deletions] as unknown as Model<never>[];
    const db = connection.db;
    if (!db) throw new Error("the connection is not open");
    this.collections = {
      jobs: db.collection<JobDoc>("jobs"),
      steps: db.collection<StepDoc>("steps"),
      deletions: db.collection<DeletionDoc>("deletions"),
    };
  }

  /** Makes the indexes that are missing; never drops one. Run by `npm run release`. */
  async createIndexes(): Promise<void> {
    for (const model of this.#models) await model.createIndexes();
  }

  /** @throws StartError when an index of this version is missing: without it a key could be stored twice */
  async checkIndexes(): Promise<void> {
    for (const model of this.#models) {
      const wanted = model.schema.indexes().map(([fields]) => JSON.stringify(fields));
      const present = await model.listIndexes().catch(() => []);
      const keys = new Set(present.map((index) => JSON.stringify(index.key)));
      if (wanted.some((fields) => !keys.has(fields))) {
        throw new StartError(
          `MongoDB lacks indexes on "${model.collection.name}": run \`npm run release\` once, then start again.`,
        );
      }
    }
  }

  /** @throws AppError unavailable */
  async ping(): Promise<void> {
    await guard(async () => this.#connection.db?.command({ ping: 1 }));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
