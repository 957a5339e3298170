import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import type { Collections } from "../db/database.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { retryUpsert } from "../db/retry.ts";
import type { DeliveryDoc } from "../deliveries/delivery.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { RunDoc } from "../runs/run.ts";
import type { ExpectationDoc } from "./expectation.ts";
import {
  NOTED_INDEX,
  NOTED_KINDS,
  type Note,
  type NotedKind,
  type NoteNotifier,
  newNoteId,
  withoutNotes,
} from "./note.ts";

/** A job without its steps. */
type NotedJob = Omit<JobDoc, "steps">;

/** A record with notes that are to be dispatched. */
export type NotedRecord = { readonly source: NotedSource; readonly notes: readonly Note[] } & (
  | { readonly kind: "job"; readonly job: NotedJob; readonly isDeleted: boolean }
  | { readonly kind: "run"; readonly run: RunDoc }
  | { readonly kind: "delivery"; readonly delivery: DeliveryDoc }
  | { readonly kind: "expectation"; readonly expectation: ExpectationDoc }
  | { readonly kind: "test"; readonly rule: string }
);

/** The place where a record with notes is stored. */
export interface NotedSource {
  readonly kind: NotedKind;
  /** A job's jobId, otherwise the record's `_id`. */
  readonly id: string;
}

/** The notes of a record that waits for its dispatch. */
export interface LeftNotes extends NotedSource {
  readonly noteId: string;
}

type OutboxCollections = Pick<Collections, "jobs" | "runs" | "deliveries" | "expectations" | "outbox">;

const COLLECTION_OF = {
  ...{ job: "jobs", run: "runs", delivery: "deliveries", expectation: "expectations", outbox: "outbox" },
} as const satisfies Record<NotedKind, keyof OutboxCollections>;

/** The notes of all records: events that have happened and are not dispatched yet. */
export class Outbox {
  readonly #collections: OutboxCollections;
  readonly #clock: Clock;
  readonly #notes: NoteNotifier;

  constructor(collections: OutboxCollections, clock: Clock, notes: NoteNotifier) {
    this.#collections = collections;
    this.#clock = clock;
    this.#notes = notes;
  }

  /** Reads a record with notes; null if it has none or does not exist. @throws AppError unavailable */
  async find(source: NotedSource): Promise<NotedRecord | null> {
    const found = await this.#read(source);
    return found && found.notes.length > 0 ? found : null;
  }

  async #read(source: NotedSource): Promise<NotedRecord | null> {
    const { id } = source;
    const { jobs, runs, deliveries, expectations, outbox } = this.#collections;
    switch (source.kind) {
      case "job": {
        const job = await readOne(jobs, { jobId: id }, { steps: 0, replaced: 0 });
        return job && { source, kind: "job", job, isDeleted: false, notes: job.notes ?? [] };
      }
      case "run": {
        const run = await readOne(runs, { _id: id });
        return run && { source, kind: "run", run, notes: run.notes ?? [] };
      }
      case "delivery": {
        const delivery = await readOne(deliveries, { _id: id });
        return delivery && { source, kind: "delivery", delivery, notes: delivery.notes ?? [] };
      }
      case "expectation": {
        const expectation = await readOne(expectations, { _id: id });
        return expectation && { source, kind: "expectation", expectation, notes: expectation.notes ?? [] };
      }
      case "outbox": {
        const found = await readOne(outbox, { _id: id });
        if (!found) return null;
        const { job, rule, notes = [] } = found;
        if (job) return { source, kind: "job", job, isDeleted: true, notes };
        return { source, kind: "test", rule: rule ?? "", notes };
      }
    }
  }

  /** Removes notes that were dispatched. @throws AppError unavailable */
  async remove({ kind, id }: NotedSource, noteIds: readonly string[]): Promise<void> {
    const collection = this.#noted(kind);
    const query: mongo.Filter<Noted> = kind === "job" ? { jobId: id } : { _id: id };
    const noted = { ...query, "notes.at": { $exists: true } };
    await mapMongoErrors(() => collection.updateOne(noted, withoutNotes(noteIds)));
    if (kind === "outbox") await mapMongoErrors(() => collection.deleteOne({ ...query, notes: { $exists: false } }));
  }

  /** Lists the records with notes that are older than a time and belong to no batch, those with the oldest note first. */
  async *listLeft(before: Date): AsyncGenerator<LeftNotes, void> {
    for (const kind of NOTED_KINDS) {
      const collection = this.#noted(kind);
      const query = { "notes.at": { $lt: before } };
      const projection = { jobId: 1, "notes.id": 1, "notes.batch": 1 };
      const found = collection.find<Noted>(query, { projection, sort: { "notes.at": 1 }, hint: NOTED_INDEX.keys });
      for await (const { _id, jobId, notes } of found) {
        const left = notes.find(({ batch }) => batch === undefined || kind === "outbox");
        if (left) yield { kind, id: kind === "job" ? jobId : String(_id), noteId: left.id };
      }
    }
  }

  /** Returns the batches of which notes are left. @throws AppError unavailable */
  async findBatches(): Promise<string[]> {
    const jobs = this.#noted("job");
    const pipeline = [
      { $match: { "notes.at": { $exists: true } } },
      { $unwind: "$notes" },
      { $match: { "notes.batch": { $exists: true } } },
      { $group: { _id: "$notes.batch" } },
    ];
    const found = await readFromCaughtUpPrimary(jobs, () =>
      jobs.aggregate<{ _id: string }>(pipeline, { hint: NOTED_INDEX.keys }).toArray(),
    );
    return found.map(({ _id }) => _id);
  }

  /** Lists the jobs with notes of a batch. */
  async *listBatch(batch: string): AsyncGenerator<NotedRecord, void> {
    const query = { "notes.at": { $exists: true }, "notes.batch": batch };
    const options = { projection: { steps: 0, replaced: 0 }, sort: { "notes.at": 1 }, hint: NOTED_INDEX.keys } as const;
    for await (const job of this.#collections.jobs.find(query, options)) {
      const notes = (job.notes ?? []).filter((note) => note.batch === batch);
      yield { source: { kind: "job", id: job.jobId }, kind: "job", job, isDeleted: false, notes };
    }
  }

  /** Removes notes of many jobs that were dispatched. @throws AppError unavailable */
  async removeOfJobs(jobIds: readonly string[], noteIds: readonly string[]): Promise<void> {
    const query = { jobId: { $in: [...jobIds] }, "notes.id": { $in: [...noteIds] } };
    await mapMongoErrors(() => this.#collections.jobs.updateMany(query, withoutNotes(noteIds)));
  }

  #noted(kind: NotedKind): mongo.Collection<Noted> {
    return this.#collections[COLLECTION_OF[kind]] as unknown as mongo.Collection<Noted>;
  }

  /** Requests a test of a rule. @returns the id of the event @throws AppError unavailable */
  async addTest(rule: string): Promise<string> {
    const id = newNoteId();
    const note = { id, type: "test" as const, at: this.#clock.now() };
    await mapMongoErrors(() => this.#collections.outbox.insertOne({ _id: id, job: null, rule, notes: [note] }));
    this.#notes.noted("outbox", id, id);
    return id;
  }

  /** Keeps jobs that are about to be deleted until their notes are dispatched. @throws AppError unavailable */
  async keep(ids: readonly mongo.ObjectId[]): Promise<void> {
    if (ids.length === 0) return;
    const { jobs, outbox } = this.#collections;
    // One at a time, because the steps of a job may take megabytes.
    for (const _id of ids) {
      const job = await readOne(jobs, { _id });
      if (!job?.notes) continue;
      const { notes, ...rest } = job;
      const id = _id.toHexString();
      // An earlier attempt may have kept it with fewer notes.
      const kept = { job: rest, rule: null, notes };
      await mapMongoErrors(() => retryUpsert(() => outbox.replaceOne({ _id: id }, kept, { upsert: true })));
      this.#notes.noted("outbox", id, id);
    }
  }
}

/** The fields of a record that the outbox reads, whatever its kind. */
interface Noted extends mongo.Document {
  readonly _id: string;
  readonly jobId: string;
  readonly notes: readonly Note[];
}

function readOne<T extends mongo.Document>(
  collection: mongo.Collection<T>,
  query: mongo.Filter<T>,
  projection: mongo.Document = {},
): Promise<mongo.WithId<T> | null> {
  return readFromCaughtUpPrimary(collection, () => collection.findOne(query, { projection }));
}
