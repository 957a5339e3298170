import type { Config } from "../../config/config.ts";
import type { Clock } from "../../shared/clock.ts";
import { durationMs } from "../../shared/text/duration.ts";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import { retryUpsert } from "../db/retry.ts";
import { NOTED_INDEX, type Note, type NoteNotifier, Notes } from "../notes/note.ts";

/** The state of an expectation of the configuration (`expect`). */
export const ExpectationDoc = f.object({
  /** The id of the expectation. */
  _id: f.string,
  /** The beginning of the name of the expected jobs. */
  name: f.string,
  /** When it was first in the configuration with this name. */
  since: f.date,
  /** When the newest such job was created, as far as it was looked for. */
  lastSeenAt: f.nullable(f.date),
  /** The latest time by which a job was due and missing; null if none was, or one came since. */
  missedAt: f.nullable(f.date),
  notes: Notes,
});
export type ExpectationDoc = f.Stored<typeof ExpectationDoc>;

/** How often a job is expected, and how late it may be. */
export interface Period {
  readonly everyMs: number;
  readonly graceMs: number;
}

export const periodOf = ({ every, grace }: Config["expect"][number]): Period => ({
  everyMs: durationMs(every),
  graceMs: grace === undefined ? 0 : durationMs(grace),
});

/** The part of an expectation that decides when jobs are due. */
type DueState = Pick<ExpectationDoc, "since" | "lastSeenAt" | "missedAt">;

/** Returns how many jobs were due until a time since the newest one, or since the expectation began. */
const countDue = (state: DueState, { everyMs, graceMs }: Period, until: Date): number =>
  Math.floor((until.getTime() - graceMs - startOf(state)) / everyMs);

const dueTime = (state: DueState, { everyMs, graceMs }: Period, count: number): Date =>
  new Date(startOf(state) + count * everyMs + graceMs);

/** A job from before the expectation is no reason to miss the next one at once. */
const startOf = ({ since, lastSeenAt }: DueState): number => Math.max((lastSeenAt ?? since).getTime(), since.getTime());

/** Returns the latest time by which a job was due and not announced as missing; undefined if there is none. */
export function latestDue(state: DueState, period: Period, now: Date): Date | undefined {
  const count = countDue(state, period, now);
  if (count < 1) return undefined;
  const due = dueTime(state, period, count);
  return state.missedAt !== null && due <= state.missedAt ? undefined : due;
}

/** Returns the first time by which a job is due and not announced as missing. It is past if the job is overdue. */
export const nextDue = (state: DueState, period: Period): Date =>
  dueTime(state, period, (state.missedAt ? countDue(state, period, state.missedAt) : 0) + 1);

export const expectationSchema = f.schemaOf(ExpectationDoc).index(NOTED_INDEX.keys, NOTED_INDEX.options);

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
