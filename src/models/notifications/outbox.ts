import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import type { Documents } from "../db/documents.ts";
import type { DeliveryDoc } from "../deliveries/delivery.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { PayloadField } from "../jobs/payloads/payloadFields.ts";
import { NOTED_INDEX, type Note, type NoteNotifier, newNoteId, withoutNotes } from "../notes/note.ts";
import type { RunDoc } from "../runs/run.ts";
import type { ExpectationDoc } from "./expectation.ts";
import type { OutboxDoc } from "./outboxRecord.ts";

/** A job without its steps and payloads, and with short texts, because thousands of jobs may have notes at once. */
export type NotedJob = Omit<JobDoc, "steps" | "replaced" | PayloadField>;

/** A record with notes that are to be dispatched. */
export type NotedRecord = { readonly source: NotedSource; readonly notes: readonly Note[] } & (
  | { readonly kind: "job"; readonly job: NotedJob; readonly isDeleted: boolean }
  | { readonly kind: "run"; readonly run: RunDoc }
  | { readonly kind: "delivery"; readonly delivery: DeliveryDoc }
  | { readonly kind: "expectation"; readonly expectation: ExpectationDoc }
  | { readonly kind: "test"; readonly rule: string }
);

/**
 * The collections of records with notes. `expectations`: an expected job that may be missing; `outbox`: a deleted job whose notes
 * were not dispatched, or a test of a rule.
 */
const NOTED = ["jobs", "runs", "deliveries", "expectations", "outbox"] as const;
type NotedCollection = (typeof NOTED)[number];

/** The place where a record with notes is stored. */
interface NotedSource {
  readonly in: NotedCollection;
  /** The query for the record. That of a job contains the key to shard by. */
  readonly query: mongo.Document;
}

/** A note that was dispatched. */
export interface DispatchedNote {
  readonly source: NotedSource;
  readonly id: string;
  /** For `job.stale`: the rules by which it was sent. */
  readonly announcedBy?: readonly string[] | undefined;
}

type JobPayloads = Pick<JobDoc, PayloadField>;
const PAYLOADS = { input: 1, metadata: 1, output: 1 } as const;
const WITHOUT_PAYLOADS = { "job.input": 0, "job.metadata": 0, "job.output": 0 } as const;
const WITHOUT_TEXTS = { "parts.text": 0, "parts.plain": 0, "webhook.body": 0 } as const;

interface OutboxCollections {
  readonly jobs: Documents<JobDoc>;
  readonly runs: Documents<RunDoc>;
  readonly deliveries: Documents<DeliveryDoc>;
  readonly expectations: Documents<ExpectationDoc>;
  readonly outbox: Documents<OutboxDoc>;
}

/** Maximum characters of a text of a job. Bodies of webhooks are cut to fewer. */
const MAX_TEXT_CHARS = 4_000;
/** Maximum notes of a page, and their approximate size in characters, which limit the memory of a dispatch. */
const PAGE_NOTES = 100;
const PAGE_CHARS = 2 * 1024 * 1024;
/** Number of failed tries after which a note, or a summary, is set aside. */
export const MAX_TRIES = 5;
/** Maximum characters of the error of a note that was set aside. */
const MAX_ERROR_CHARS = 1_000;

/** The notes of all records: notifications that have happened and are not dispatched yet. */
export class Outbox {
  readonly #collections: OutboxCollections;
  readonly #clock: Clock;
  readonly #notes: NoteNotifier;

  constructor(collections: OutboxCollections, clock: Clock, notes: NoteNotifier) {
    this.#collections = collections;
    this.#clock = clock;
    this.#notes = notes;
  }

  /**
   * Lists records with notes in pages, those with the oldest note first. The collections take turns, so that many notifications
   * of one do not delay those of another.
   */
  async *listPages(): AsyncGenerator<readonly NotedRecord[], void> {
    let lists = NOTED.map((name) => pagesOf(this.#list(name)));
    while (lists.length > 0) {
      const open = [];
      for (const list of lists) {
        const { value, done } = await list.next();
        if (done) continue;
        yield value;
        open.push(list);
      }
      lists = open;
    }
  }

  /** Lists the jobs with a question that nobody was notified of yet. */
  async findQuestions(): Promise<NotedRecord[]> {
    const asking = { "openGates.gateId": { $exists: true }, "notes.type": "gate.opened" };
    const found = this.#collections.jobs.aggregate<NotedJob>(shortJobs(asking, { limit: PAGE_NOTES }));
    return (await found).map(jobRecord);
  }

  async *#list(name: NotedCollection): AsyncGenerator<NotedRecord, void> {
    const noted = { "notes.at": { $exists: true } };
    const sort = { "notes.at": 1 } as const;
    const options = { hint: NOTED_INDEX.keys, batchSize: PAGE_NOTES } as const;
    const { jobs, runs, deliveries, expectations, outbox } = this.#collections;
    switch (name) {
      case "jobs":
        for await (const job of jobs.aggregateStream<NotedJob>(shortJobs(noted, { sort }), options))
          yield jobRecord(job);
        return;
      case "runs":
        for await (const run of runs.stream(noted, { ...options, sort }))
          yield { kind: "run", run, ...sourceOf(name, run) };
        return;
      case "deliveries":
        for await (const delivery of deliveries.stream(noted, { ...options, sort, projection: WITHOUT_TEXTS }))
          yield { kind: "delivery", delivery, ...sourceOf(name, delivery) };
        return;
      case "expectations":
        for await (const expectation of expectations.stream(noted, { ...options, sort }))
          yield { kind: "expectation", expectation, ...sourceOf(name, expectation) };
        return;
      case "outbox":
        for await (const found of outbox.stream(noted, { ...options, sort, projection: WITHOUT_PAYLOADS })) {
          const { job, rule } = found;
          if (job) yield { kind: "job", job, isDeleted: true, ...sourceOf(name, found) };
          else yield { kind: "test", rule: rule ?? "", ...sourceOf(name, found) };
        }
    }
  }

  /** Reads the payloads of a job with notes. @returns null if the job was deleted meanwhile */
  async readPayloads({ job, isDeleted }: Extract<NotedRecord, { kind: "job" }>): Promise<JobPayloads | null> {
    const { jobs, outbox } = this.#collections;
    const { _id, jobId } = job;
    if (!isDeleted) return jobs.findOne({ _id, jobId }, { projection: PAYLOADS });
    const kept = await outbox.findOne({ _id: _id.toHexString() });
    return kept?.job ?? null;
  }

  /** Returns whether notes wait that are older than a time. */
  async hasLeft(before: Date): Promise<boolean> {
    const noted = { "notes.at": { $lt: before } };
    for (const name of NOTED) if (await this.#collection(name).exists(noted)) return true;
    return false;
  }

  /** Removes notes that were dispatched. */
  async remove(notes: readonly DispatchedNote[]): Promise<void> {
    for (const name of NOTED) {
      const bySource = Map.groupBy(
        notes.filter(({ source }) => source.in === name),
        ({ source }) => source,
      );
      if (bySource.size === 0) continue;
      const updates = [...bySource].map(([{ query }, own]) => ({
        updateOne: {
          filter: { ...query, "notes.at": { $exists: true } },
          update: withoutNotes(
            own.map(({ id }) => id),
            own.flatMap(({ id, announcedBy = [] }) => (announcedBy.length > 0 ? [{ id, rules: announcedBy }] : [])),
          ),
        },
      }));
      const collection = this.#collection(name);
      await collection.bulkWrite(updates, { ordered: false });
      if (name !== "outbox") continue;
      const ids = [...bySource.keys()].map(({ query }) => query._id as string);
      await collection.deleteMany({ _id: { $in: ids }, notes: { $exists: false } });
    }
  }

  /**
   * Counts a failed try to dispatch a note. After the last permitted one the note is set aside: it stays in the collection for
   * thirty days, and nothing reads it.
   * @returns whether it was set aside
   */
  async countFailure(source: NotedSource, note: Note, error: string): Promise<boolean> {
    const tries = (note.tries ?? 0) + 1;
    const now = this.#clock.now();
    if (tries < MAX_TRIES) {
      const tried = { $set: { "notes.$.tries": tries, "notes.$.triedAt": now } };
      await this.#collection(source.in).updateOne({ ...source.query, "notes.id": note.id }, tried);
      return false;
    }
    const { outbox } = this.#collections;
    const failed = { note, error: error.slice(0, MAX_ERROR_CHARS).toWellFormed() };
    const kept = { job: null, rule: null, failed, failedAt: now };
    await outbox.replaceOne({ _id: `failed-${note.id}` }, kept);
    await this.remove([{ source, id: note.id }]);
    return true;
  }

  #collection(name: NotedCollection): Documents<mongo.Document & { _id: string }> {
    return this.#collections[name] as unknown as Documents<mongo.Document & { _id: string }>;
  }

  /** Requests a test of a rule. @returns the id of the notification */
  async addTest(rule: string): Promise<string> {
    const id = newNoteId();
    const note = { id, type: "test" as const, at: this.#clock.now() };
    await this.#collections.outbox.insertOne({ _id: id, job: null, rule, notes: [note] });
    this.#notes.noted();
    return id;
  }

  /** Keeps jobs that are about to be deleted until their notes are dispatched. */
  async keep(ids: readonly mongo.ObjectId[]): Promise<void> {
    if (ids.length === 0) return;
    const { jobs, outbox } = this.#collections;
    const found = jobs.stream(
      { _id: { $in: [...ids] }, "notes.at": { $exists: true } },
      { projection: { steps: 0, replaced: 0 } },
    );
    for await (const { notes, ...job } of found) {
      const _id = job._id.toHexString();
      // An earlier attempt may have kept it with fewer notes.
      const kept = { job, rule: null, notes: notes ?? [] };
      await outbox.replaceOne({ _id }, kept);
    }
    this.#notes.noted();
  }
}

/**
 * Returns the pipeline that reads jobs without what no notification needs:
 * `[{…, message: "the first characters", notes: [n1, n2]}]`.
 */
function shortJobs(
  query: mongo.Filter<JobDoc>,
  { sort, limit }: { readonly sort?: mongo.Document; readonly limit?: number } = {},
): mongo.Document[] {
  const unread = ["steps", "replaced", "input", "metadata", "output", "current.failedAttempts"];
  const short = (field: string) => ({
    $cond: [{ $gt: [field, null] }, { $substrCP: [field, 0, MAX_TEXT_CHARS] }, null],
  });
  const shortStep = {
    $cond: [
      { $eq: [{ $type: "$current" }, "object"] },
      { $mergeObjects: ["$current", { message: short("$current.message") }] },
      "$current",
    ],
  };
  return [
    { $match: query },
    ...(sort ? [{ $sort: sort }] : []),
    ...(limit === undefined ? [] : [{ $limit: limit }]),
    { $unset: unread },
    { $set: { message: short("$message"), description: short("$description"), current: shortStep } },
  ];
}

const sourceOf = (
  name: NotedCollection,
  { _id, notes = [] }: { readonly _id: string; readonly notes?: readonly Note[] },
) => ({
  source: { in: name, query: { _id } },
  notes,
});

const jobRecord = (job: NotedJob): NotedRecord => ({
  kind: "job",
  job,
  isDeleted: false,
  notes: job.notes ?? [],
  source: { in: "jobs", query: { _id: job._id, jobId: job.jobId } },
});

/** Groups records into pages of limited size. */
async function* pagesOf(records: AsyncIterable<NotedRecord>): AsyncGenerator<readonly NotedRecord[], void> {
  let page: NotedRecord[] = [];
  let count = 0;
  let chars = 0;
  for await (const record of records) {
    page.push(record);
    count += record.notes.length;
    chars += sizeOf(record);
    if (count < PAGE_NOTES && chars < PAGE_CHARS) continue;
    yield page;
    [page, count, chars] = [[], 0, 0];
  }
  if (page.length > 0) yield page;
}

/** Returns the approximate size of a record's notes, and of the job or run, in characters. */
const sizeOf = (record: NotedRecord): number =>
  record.notes.reduce((sum, { was }) => sum + 500 + String(was?.message ?? "").length, 0) +
  (record.kind === "run" ? (record.run.request?.message.length ?? 0) + (record.run.reply?.length ?? 0) : 0);
