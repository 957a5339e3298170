import { setTimeout as pause } from "node:timers/promises";
import { mongo } from "mongoose";
import { AppError } from "../shared/errors.ts";
import { inTime } from "../shared/inTime.ts";
import { guard, isPassing } from "./guard.ts";

/** Longer than a new primary usually needs, shorter than clients wait. */
const WAIT_MS = 5_000;
const AGAIN_MS = 100;
const NOTHING = { _id: new mongo.ObjectId("000000000000000000000000") };

/** As long as one member of a replica set is the primary. */
interface Reign {
  /** Which member, and which of its elections. */
  readonly name: string;
  /** Null once it knows all that was acknowledged before it. */
  catchingUp: Promise<void> | null;
}

/**
 * Keeps reads from a primary that has just been elected. Until MongoDB 8.0 such a one answers from what it knows to be on a
 * majority of the members, and for a moment that may be less than was acknowledged before it: a job would be missing, or its
 * progress have gone back. A linearizable read is answered when it has caught up.
 * Source: https://jira.mongodb.org/browse/SERVER-53813
 */
class Primaries {
  readonly #db: mongo.Db;
  #reign: Reign;
  #isClosed = false;

  constructor(db: mongo.Db, client: mongo.MongoClient) {
    this.#db = db;
    this.#reign = this.#begin("");
    client.on("topologyClosed", () => {
      this.#isClosed = true;
    });
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      const primary = [...newDescription.servers.values()].find(({ type }) => type === "RSPrimary");
      const name = primary && `${primary.address} ${primary.electionId?.toHexString()}`;
      if (name && name !== this.#reign.name) this.#reign = this.#begin(name);
    });
  }

  #begin(name: string): Reign {
    const reign: Reign = { name, catchingUp: null };
    reign.catchingUp = this.#catchUp(reign).then(() => {
      reign.catchingUp = null;
    });
    return reign;
  }

  async #catchUp(reign: Reign): Promise<void> {
    const options = { readConcern: { level: "linearizable" }, maxTimeMS: WAIT_MS } as const;
    do {
      try {
        await this.#db.collection("jobs").findOne(NOTHING, options);
        return;
      } catch (error) {
        if (!isPassing(error)) return; // it is no member of a replica set
        await pause(AGAIN_MS, undefined, { ref: false });
      }
    } while (this.#reign === reign && !this.#isClosed);
  }

  /** @throws AppError unavailable, when the primary has not caught up in time */
  async caughtUp(): Promise<Reign> {
    const reign = this.#reign;
    if (reign.catchingUp) await inTime(reign.catchingUp, WAIT_MS, "MongoDB").catch(() => Promise.reject(behind()));
    return reign;
  }

  isStill(reign: Reign): boolean {
    return this.#reign === reign;
  }
}

const behind = () =>
  new AppError("unavailable", {
    detail: "MongoDB's new primary has not caught up yet. Send the same request again.",
    retryAfterSeconds: 2,
  });

const known = new WeakMap<mongo.Db, Primaries>();

/** From then on the reads of this database (`reading`) are kept from primaries that have not caught up. */
export function watchPrimaries(db: mongo.Db, client: mongo.MongoClient): void {
  known.set(db, new Primaries(db, client));
}

/**
 * Reads from a collection; again where another primary was elected meanwhile.
 * @param read may be called several times
 * @throws AppError unavailable
 */
export function reading<T>({ db }: Pick<mongo.Collection, "db">, read: () => Promise<T>): Promise<T> {
  return guard(async () => {
    const primaries = known.get(db);
    if (!primaries) return read();
    for (;;) {
      const reign = await primaries.caughtUp();
      const result = await read();
      if (primaries.isStill(reign)) return result;
    }
  });
}

/** Whether a collection holds what fits a filter. @throws AppError unavailable */
export async function exists<T extends mongo.Document>(
  collection: mongo.Collection<T>,
  filter: mongo.Filter<T>,
): Promise<boolean> {
  return (await reading(collection, () => collection.findOne(filter, { projection: { _id: 1 } }))) !== null;
}
