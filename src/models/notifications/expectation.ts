import type { Clock } from "../../shared/clock.ts";
import type { Documents } from "../db/documents.ts";
import { date, nullable, object, type Stored, schemaOf, string } from "../db/fields.ts";
import { retryUpsert } from "../db/retry.ts";
import { NOTED_INDEX, type Note, type NoteNotifier, Notes } from "./note.ts";

/** The state of an expectation of the configuration (`expect`). */
export const ExpectationDoc = object({
  /** The id of the expectation. */
  _id: string,
  /** The beginning of the name of the expected jobs. */
  name: string,
  /** When it was first in the configuration with this name. */
  since: date,
  /** When the newest such job was created, as far as it was looked for. */
  lastSeenAt: nullable(date),
  /** The latest time by which a job was due and missing; null if none was, or one came since. */
  missedAt: nullable(date),
  notes: Notes,
});
export type ExpectationDoc = Stored<typeof ExpectationDoc>;

export const expectationSchema = schemaOf(ExpectationDoc).index(NOTED_INDEX.keys, NOTED_INDEX.options);

export class Expectations {
  readonly collection: Documents<ExpectationDoc>;
  readonly #clock: Clock;
  readonly #notes: NoteNotifier;

  constructor(collection: Documents<ExpectationDoc>, clock: Clock, notes: NoteNotifier) {
    this.collection = collection;
    this.#clock = clock;
    this.#notes = notes;
  }

  /** Reads all expectations, including those that are no longer configured. @throws AppError unavailable */
  list(): Promise<ExpectationDoc[]> {
    return this.collection.find({});
  }

  /** Removes expectations that are not configured any more, so that one that is added again begins anew. @throws AppError unavailable */
  async keepOnly(ids: readonly string[]): Promise<void> {
    const removed = { _id: { $nin: [...ids] }, notes: { $exists: false } };
    await this.collection.deleteMany(removed);
  }

  /** Begins an expectation, or begins it again under another name. @throws AppError unavailable */
  async begin(id: string, name: string, lastSeenAt: Date | null = null): Promise<void> {
    const fresh = { name, since: this.#clock.now(), lastSeenAt, missedAt: null };
    const isOther = { _id: id, name: { $ne: name } };
    const { matchedCount } = await this.collection.updateOne(isOther, { $set: fresh });
    if (matchedCount > 0) return;
    const create = () => this.collection.updateOne({ _id: id }, { $setOnInsert: fresh }, { upsert: true });
    await retryUpsert(create);
  }

  /** Stores when the newest job was created. @throws AppError unavailable */
  async seen({ _id, name }: ExpectationDoc, at: Date): Promise<void> {
    const change = { $max: { lastSeenAt: at }, $set: { missedAt: null } };
    await this.collection.updateOne({ _id, name }, change);
  }

  /** Notes that a job was missing at a time, once. @throws AppError unavailable */
  async missed({ _id, name, missedAt, lastSeenAt }: ExpectationDoc, due: Date): Promise<void> {
    const id = `missing-${_id}-${due.getTime()}`;
    const note: Note = { id, type: "job.missing", at: this.#clock.now(), was: { lastSeenAt } };
    const change = { $set: { missedAt: due }, $push: { notes: note } };
    const { modifiedCount } = await this.collection.updateOne({ _id, name, missedAt, lastSeenAt }, change);
    if (modifiedCount > 0) this.#notes.noted();
  }
}
