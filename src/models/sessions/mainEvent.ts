import { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import * as f from "../db/fields.ts";
import { BatchInserter } from "../db/insertAll.ts";
import { readPage } from "../db/page.ts";
import { Store } from "../db/store.ts";
import { depthField } from "../notes/depth.ts";

/** A main event: a line that goes into the prompt of the main session's next turn. */
export const MainEventDoc = f.object({
  /** The eventId. That of a run's end is derived from the run, so that a repeated write does not store it twice. */
  _id: f.string,
  text: f.string,
  /** Its origin, which the prompt names. */
  source: f.string,
  /** Whether it triggers a turn at once, instead of waiting for the next scheduled one. */
  wake: f.boolean,
  /** MongoDB's time of insertion. Orders the events. */
  order: f.timestamp,
  createdAt: f.date,
  /** Whether it still waits for a successful turn. */
  waiting: f.boolean,
  /** For an event that is too long for one turn: the number of its UTF-16 code units that earlier prompts contained. */
  sentChars: f.optional(f.number),
  /** When a turn with the event succeeded. The record stays for a while, so that a repeated write does not queue it again. */
  takenAt: f.nullable(f.date),
  /** The depth of the events that follow from it (`notes/depth.ts`); missing for 0. */
  depth: f.optional(f.number),
  /** The fingerprint of the request that came with the Idempotency-Key from which `_id` is derived. */
  fingerprint: f.optional(f.string),
});
export type MainEventDoc = f.Stored<typeof MainEventDoc>;

/** The beginning of the ids of events that rules add. */
export const NOTIFICATION_PREFIX = "notify-";

/** How long events are kept after their turn. */
const KEEP_TAKEN_SECONDS = 7 * 86_400;

export const mainEventSchema = f
  .schemaOf(MainEventDoc)
  .index({ order: 1 }, { partialFilterExpression: { waiting: true } })
  .index({ wake: 1 }, { partialFilterExpression: { waiting: true } })
  .index({ takenAt: 1 }, { expireAfterSeconds: KEEP_TAKEN_SECONDS });

export type NewMainEvent = Pick<MainEventDoc, "_id" | "text" | "source" | "wake"> & {
  readonly fingerprint?: string | undefined;
  readonly depth?: number | undefined;
};

export class MainEvents extends Store<MainEventDoc> {
  readonly #inserter = new BatchInserter(this.collection, ({ text }) => 500 + text.length);

  /**
   * Queues events. Those that exist already, or were taken lately, stay unchanged.
   * @returns the number of new events
   */
  add(events: readonly NewMainEvent[]): Promise<number> {
    const fresh = { createdAt: this.clock.now(), waiting: true, takenAt: null };
    return this.#inserter.add(
      events.map(({ fingerprint, depth, ...event }) => ({
        ...event,
        ...fresh,
        order: new mongo.Timestamp({ t: 0, i: 0 }),
        ...(fingerprint !== undefined && { fingerprint }),
        ...depthField(depth),
      })),
    );
  }

  /** Reads how an event was accepted; null if it does not exist. */
  async findAcceptance(eventId: string): Promise<{ fingerprint: string | undefined; createdAt: Date } | null> {
    const options = { projection: { fingerprint: 1, createdAt: 1 } };
    const found = await this.collection.findOne({ _id: eventId }, options);
    return found && { fingerprint: found.fingerprint, createdAt: found.createdAt };
  }

  /**
   * Returns waiting events in order: at most `limit`, and none after the one that exceeds `maxChars`. `more` is set if more wait.
   */
  async findWaiting(bounds: { limit: number; maxChars: number }): Promise<{ events: MainEventDoc[]; more: boolean }> {
    const { limit, maxChars: bytes } = bounds;
    const oldest = { filter: { waiting: true }, sort: { order: 1 } as const };
    const { rows, last } = await readPage(this.collection, oldest, {
      limit,
      bytes,
      bytesOf: ({ text }) => text.length,
    });
    return { events: rows, more: last !== null };
  }

  countWaiting(): Promise<number> {
    return this.collection.countDocuments({ waiting: true }, { hint: "order_1" });
  }

  /** Returns whether an event that was queued before a time still waits for a turn at once. */
  wantsTurn(before: Date): Promise<boolean> {
    return this.collection.exists({ waiting: true, wake: true, createdAt: { $lt: before } });
  }

  /** Makes all waiting events trigger a turn at once, because their scheduled time has come. */
  async wakeAll(): Promise<void> {
    await this.collection.updateMany({ waiting: true, wake: false }, { $set: { wake: true } });
  }

  /** Lets events wait for the next scheduled turn. */
  async postpone(ids: readonly string[]): Promise<void> {
    const query = { _id: { $in: [...ids] }, waiting: true };
    await this.collection.updateMany(query, { $set: { wake: false } });
  }

  /** Records how much of an event successful turns have received. The event keeps waiting for the next turn. */
  async updateSentChars(id: string, sentChars: number): Promise<void> {
    await this.collection.updateOne({ _id: id }, { $max: { sentChars } });
  }

  /** Removes a waiting event. A turn that already has it continues. @throws AppError event_not_found, unavailable */
  async remove(id: string): Promise<void> {
    if (await this.#dequeue({ _id: id, waiting: true })) return;
    throw new AppError("event_not_found", {
      detail: `No event ${JSON.stringify(id)} is waiting for the main session.`,
    });
  }

  /** Removes events from the queue after a successful turn. */
  async take(ids: readonly string[]): Promise<void> {
    await this.#dequeue({ _id: { $in: [...ids] } });
  }

  /** @returns the number of events that match the query */
  async #dequeue(query: mongo.Filter<MainEventDoc>): Promise<number> {
    const change = { $set: { waiting: false, takenAt: this.clock.now() } };
    return (await this.collection.updateMany(query, change)).matchedCount;
  }
}
