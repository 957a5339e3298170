import type { Config } from "../../config/config.ts";
import type { Clock } from "../../shared/clock.ts";
import { lastCron, nextCron } from "../../shared/text/cron.ts";
import { durationMs } from "../../shared/text/duration.ts";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import { retryUpsert } from "../db/retry.ts";
import { Store } from "../db/store.ts";
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

/** When jobs are due, without the time by which they may be late. */
interface Times {
  /** Returns the last due time until another one, of a job that began or an expectation that started; undefined if there is none. */
  last(start: Date, until: Date): Date | undefined;
  /** Returns the first due time after another one. */
  next(start: Date, after: Date): Date;
}

/** When a job is expected, and how late it may be. */
export interface Schedule {
  readonly times: Times;
  readonly graceMs: number;
}

export const scheduleOf = ({ every, cron, timezone = "UTC", grace }: Config["expect"][number]): Schedule => ({
  times: cron === undefined ? regular(durationMs(every as string)) : byCron(cron, timezone),
  graceMs: grace === undefined ? 0 : durationMs(grace),
});

function regular(everyMs: number): Times {
  const countUntil = (start: Date, until: Date) => Math.floor((until.getTime() - start.getTime()) / everyMs);
  const at = (start: Date, count: number) => new Date(start.getTime() + count * everyMs);
  return {
    last: (start, until) => (countUntil(start, until) < 1 ? undefined : at(start, countUntil(start, until))),
    next: (start, after) => at(start, countUntil(start, after) + 1),
  };
}

function byCron(cron: string, timezone: string): Times {
  return {
    last: (start, until) => {
      const time = lastCron(cron, timezone, until);
      return time > start ? time : undefined;
    },
    next: (_, after) => nextCron(cron, timezone, after),
  };
}

/** The part of an expectation that decides when jobs are due. */
type DueState = Pick<ExpectationDoc, "since" | "lastSeenAt" | "missedAt">;

/** A job from before the expectation is no reason to miss the next one at once. */
const startOf = ({ since, lastSeenAt }: DueState): Date => (lastSeenAt && lastSeenAt > since ? lastSeenAt : since);

const plus = (time: Date, ms: number): Date => new Date(time.getTime() + ms);

/** Returns the latest time by which a job was due and not announced as missing; undefined if there is none. */
export function latestDue(state: DueState, { times, graceMs }: Schedule, now: Date): Date | undefined {
  const time = times.last(startOf(state), plus(now, -graceMs));
  const due = time && plus(time, graceMs);
  return due && state.missedAt !== null && due <= state.missedAt ? undefined : due;
}

/** Returns the first time by which a job is due and not announced as missing. It is past if the job is overdue. */
export function nextDue(state: DueState, { times, graceMs }: Schedule): Date {
  const start = startOf(state);
  const announced = state.missedAt && plus(state.missedAt, -graceMs);
  return plus(times.next(start, announced && announced > start ? announced : start), graceMs);
}

export const expectationSchema = f.schemaOf(ExpectationDoc).index(NOTED_INDEX.keys, NOTED_INDEX.options);

export class Expectations extends Store<ExpectationDoc> {
  readonly #notes: NoteNotifier;

  constructor(collection: Documents<ExpectationDoc>, clock: Clock, notes: NoteNotifier) {
    super(collection, clock);
    this.#notes = notes;
  }

  /** Reads all expectations, including those that are no longer configured. */
  list(): Promise<ExpectationDoc[]> {
    return this.collection.find({});
  }

  /** Removes expectations that are not configured any more, so that one that is added again begins from the start. */
  async keepOnly(ids: readonly string[]): Promise<void> {
    const removed = { _id: { $nin: [...ids] }, notes: { $exists: false } };
    await this.collection.deleteMany(removed);
  }

  /** Begins an expectation, or begins it again under another name. */
  async begin(id: string, name: string, lastSeenAt: Date | null = null): Promise<void> {
    const fresh = { name, since: this.clock.now(), lastSeenAt, missedAt: null };
    const isOther = { _id: id, name: { $ne: name } };
    const { matchedCount } = await this.collection.updateOne(isOther, { $set: fresh });
    if (matchedCount > 0) return;
    const create = () => this.collection.updateOne({ _id: id }, { $setOnInsert: fresh }, { upsert: true });
    await retryUpsert(create);
  }

  /** Stores when the newest job was created. */
  async seen({ _id, name }: ExpectationDoc, at: Date): Promise<void> {
    const change = { $max: { lastSeenAt: at }, $set: { missedAt: null } };
    await this.collection.updateOne({ _id, name }, change);
  }

  /** Notes that a job was missing at a time, once. */
  async missed({ _id, name, missedAt, lastSeenAt }: ExpectationDoc, due: Date): Promise<void> {
    const id = `missing-${_id}-${due.getTime()}`;
    const note: Note = { id, type: "job.missing", at: this.clock.now(), was: { lastSeenAt } };
    const change = { $set: { missedAt: due }, $push: { notes: note } };
    const { modifiedCount } = await this.collection.updateOne({ _id, name, missedAt, lastSeenAt }, change);
    if (modifiedCount > 0) this.#notes.noted();
  }
}
