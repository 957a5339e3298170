import { mongo, Schema } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { exists, readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { BatchInserter } from "../db/insertAll.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readPage } from "../db/page.ts";

/** Something that the main session is to be told with its next turn. */
export interface EventDoc {
  /** The eventId; one that follows from a run is named after it, so that it is there once. */
  _id: string;
  text: string;
  /** Where it comes from, for the fence around it. */
  source: string;
  /** Wants a turn at once rather than with the next scheduled one. */
  wake: boolean;
  /** When MongoDB took it; the order of events. */
  order: mongo.Timestamp;
  createdAt: Date;
  waiting: boolean;
  /** Where it is more than a turn takes: how many of its UTF-16 units earlier turns were told. */
  told?: number;
  /** When a turn that knew it succeeded; kept for a while so that it is never made again. */
  takenAt: Date | null;
  /** The fingerprint of the request that came with the Idempotency-Key from which `_id` is derived. */
  fingerprint?: string | undefined;
}

const KEEP_TAKEN_SECONDS = 7 * 86_400;

export const eventSchema = new Schema<EventDoc>(
  {
    _id: String,
    text: String,
    source: String,
    wake: Boolean,
    order: Schema.Types.Mixed,
    createdAt: Date,
    waiting: Boolean,
    told: Number,
    takenAt: Date,
    fingerprint: String,
  },
  { versionKey: false },
);
eventSchema.index({ order: 1 }, { partialFilterExpression: { waiting: true } });
eventSchema.index({ wake: 1 }, { partialFilterExpression: { waiting: true } });
eventSchema.index({ takenAt: 1 }, { expireAfterSeconds: KEEP_TAKEN_SECONDS });

export type NewEvent = Pick<EventDoc, "_id" | "text" | "source" | "wake" | "fingerprint">;

export class Events {
  readonly collection: mongo.Collection<EventDoc>;
  readonly #inserter: BatchInserter<EventDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<EventDoc>, clock: Clock) {
    this.collection = collection;
    this.#inserter = new BatchInserter(collection, ({ text }) => 500 + text.length);
    this.#clock = clock;
  }

  /**
   * Queues events; one that is or was there already is left alone.
   * @returns how many are new
   * @throws AppError unavailable
   */
  add(events: readonly NewEvent[]): Promise<number> {
    const fresh = { createdAt: this.#clock.now(), waiting: true, takenAt: null };
    return this.#inserter.add(
      events.map(({ fingerprint, ...event }) => ({
        ...{ ...event, ...fresh, order: new mongo.Timestamp({ t: 0, i: 0 }) },
        ...(fingerprint !== undefined && { fingerprint }),
      })),
    );
  }

  /** Reads how an event was accepted; null where there is no such event. @throws AppError unavailable */
  async findAcceptance(eventId: string): Promise<{ fingerprint: string | undefined; createdAt: Date } | null> {
    const options = { projection: { fingerprint: 1, createdAt: 1 } };
    const found = await readFromCaughtUpPrimary(this.collection, () =>
      this.collection.findOne({ _id: eventId }, options),
    );
    return found && { fingerprint: found.fingerprint, createdAt: found.createdAt };
  }

  /**
   * The events that wait, in order: at most `limit`, up to the one that passes `maxChars`, and whether there are more.
   * @throws AppError unavailable
   */
  async findWaiting(bounds: { limit: number; maxChars: number }): Promise<{ events: EventDoc[]; more: boolean }> {
    const { limit, maxChars: bytes } = bounds;
    const find = () => this.collection.find({ waiting: true }).sort({ order: 1 });
    const { rows, last } = await readPage(this.collection, find, { limit, bytes, bytesOf: ({ text }) => text.length });
    return { events: rows, more: last !== null };
  }

  countWaiting(): Promise<number> {
    return readFromCaughtUpPrimary(this.collection, () =>
      this.collection.countDocuments({ waiting: true }, { hint: "order_1" }),
    );
  }

  /** Whether an event from before a time waits that wants a turn at once. */
  wantsTurn(before: Date): Promise<boolean> {
    return exists(this.collection, { waiting: true, wake: true, createdAt: { $lt: before } });
  }

  /** Has all that wait want a turn at once: their time has come. */
  async wakeAll(): Promise<void> {
    await mapMongoErrors(() => this.collection.updateMany({ waiting: true, wake: false }, { $set: { wake: true } }));
  }

  /** Notes how much of an event turns were told that succeeded; it waits for the next one. */
  async updateTold(id: string, told: number): Promise<void> {
    await mapMongoErrors(() => this.collection.updateOne({ _id: id }, { $max: { told } }));
  }

  /** Takes an event off the queue by hand; a turn that knows it already goes on. @throws AppError event_not_found, unavailable */
  async remove(id: string): Promise<void> {
    if (await this.#dequeue({ _id: id, waiting: true })) return;
    throw new AppError("event_not_found", { detail: `No event ${JSON.stringify(id)} waits for the main session.` });
  }

  /** Takes events off the queue: a turn that knew them has succeeded. */
  async take(ids: readonly string[]): Promise<void> {
    await this.#dequeue({ _id: { $in: [...ids] } });
  }

  /** @returns how many events a query fits */
  async #dequeue(query: mongo.Filter<EventDoc>): Promise<number> {
    const change = { $set: { waiting: false, takenAt: this.#clock.now() } };
    return (await mapMongoErrors(() => this.collection.updateMany(query, change))).matchedCount;
  }
}
