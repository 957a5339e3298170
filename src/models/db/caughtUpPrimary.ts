import { setTimeout as pause } from "node:timers/promises";
import { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import { isTransient, mapMongoErrors } from "./mongoErrors.ts";

/** Maximum wait for a new primary: longer than it usually needs, shorter than clients wait. */
const WAIT_MS = 5_000;
/** Pause between attempts to read from a new primary. */
const RETRY_MS = 100;
/** Matches no job: the read only waits for the primary. */
const NOTHING = { _id: new mongo.ObjectId("000000000000000000000000") };

/** The time between two elections, in which one member of a replica set is the primary. */
interface PrimaryTerm {
  /** Identifies the member and its election. */
  readonly name: string;
  /** Null once the primary has all writes that were acknowledged before it was elected. */
  catchingUp: Promise<void> | null;
}

/**
 * Delays reads from a primary that has just been elected. Before MongoDB 8.0 a new primary may briefly answer without writes
 * that were acknowledged before its election: a job would be missing, or its progress would have gone back. A linearizable
 * read is answered once the primary has caught up.
 *
 * Only elections in a replica set that the client is connected to directly are seen. Behind mongos the elections of the
 * shards stay invisible, and nothing is delayed there: a sharded cluster needs MongoDB 8.0 or later.
 * Source: https://jira.mongodb.org/browse/SERVER-53813
 */
class CurrentPrimary {
  readonly #db: mongo.Db;
  #term: PrimaryTerm;
  #isClosed = false;

  constructor(db: mongo.Db, client: mongo.MongoClient) {
    this.#db = db;
    this.#term = this.#begin("");
    client.on("topologyClosed", () => {
      this.#isClosed = true;
    });
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      const primary = [...newDescription.servers.values()].find(({ type }) => type === "RSPrimary");
      const name = primary && `${primary.address} ${primary.electionId?.toHexString()}`;
      if (name && name !== this.#term.name) this.#term = this.#begin(name);
    });
  }

  #begin(name: string): PrimaryTerm {
    const term: PrimaryTerm = { name, catchingUp: null };
    term.catchingUp = this.#catchUp(term).then(() => {
      term.catchingUp = null;
    });
    return term;
  }

  async #catchUp(term: PrimaryTerm): Promise<void> {
    const options = { readConcern: { level: "linearizable" }, maxTimeMS: WAIT_MS } as const;
    do {
      try {
        await this.#db.collection("jobs").findOne(NOTHING, options);
        return;
      } catch (error) {
        if (!isTransient(error)) return; // The server is not a member of a replica set.
        await pause(RETRY_MS, undefined, { ref: false });
      }
    } while (this.#term === term && !this.#isClosed);
  }

  /** Waits for the primary to catch up. @throws AppError unavailable if it takes longer than `WAIT_MS` */
  async waitUntilCaughtUp(): Promise<PrimaryTerm> {
    const term = this.#term;
    if (term.catchingUp)
      await withTimeout(term.catchingUp, WAIT_MS, "MongoDB").catch(() => Promise.reject(notCaughtUp()));
    return term;
  }

  /** Returns whether no other primary has been elected since a term began. */
  isCurrent(term: PrimaryTerm): boolean {
    return this.#term === term;
  }
}

const notCaughtUp = () =>
  new AppError("unavailable", {
    detail: "MongoDB's new primary has not caught up yet. Send the same request again.",
    retryAfterSeconds: 2,
  });

const primaries = new WeakMap<mongo.Db, CurrentPrimary>();

/** Makes `readFromCaughtUpPrimary` wait for the primaries of a database from now on. */
export function watchPrimaries(db: mongo.Db, client: mongo.MongoClient): void {
  primaries.set(db, new CurrentPrimary(db, client));
}

/**
 * Reads from a collection, and reads again if another primary was elected meanwhile.
 * @param read may be called several times
 * @throws AppError unavailable
 */
export function readFromCaughtUpPrimary<T>({ db }: Pick<mongo.Collection, "db">, read: () => Promise<T>): Promise<T> {
  return mapMongoErrors(async () => {
    const primary = primaries.get(db);
    if (!primary) return read();
    for (;;) {
      const term = await primary.waitUntilCaughtUp();
      const result = await read();
      if (primary.isCurrent(term)) return result;
    }
  });
}
