import * as f from "../db/fields.ts";
import { insertAll } from "../db/insertAll.ts";
import { Store } from "../db/store.ts";

/** How long spans are kept that nobody sends, because traces were turned off. */
const KEEP_SECONDS = 86_400;

/** Spans of one trace that wait to be sent. */
export const SpanDoc = f.object({
  /** The id of the notification that they are made of, and a number. */
  _id: f.string,
  at: f.date,
  count: f.number,
  /** The spans as members of a JSON array. */
  json: f.string,
});
export type SpanDoc = f.Stored<typeof SpanDoc>;
export const spanSchema = f.schemaOf(SpanDoc).index({ at: 1 }, { expireAfterSeconds: KEEP_SECONDS });

/**
 * Maximum records that wait: a receiver that is down fills no disk. More are dropped. Twice what 2,000 jobs a second end with
 * between two requests.
 */
const MAX_WAITING = 20_000;
/** Maximum spans and characters of a batch. Receivers accept 20 MiB. */
const MAX_BATCH_SPANS = 5_000;
const MAX_BATCH_CHARS = 2 * 1024 * 1024;
/** Maximum records of a batch. */
const MAX_BATCH_RECORDS = 1_000;

/** The spans that wait to be sent. */
export class Spans extends Store<SpanDoc> {
  /**
   * Adds records, as far as there is room. Those that wait already stay unchanged.
   * @returns the number of spans without room
   */
  async add(records: readonly Omit<SpanDoc, "at">[]): Promise<number> {
    if (records.length === 0) return 0;
    const waiting = { at: { $gt: new Date(0) } };
    const count = await this.collection.countDocuments(waiting, { limit: MAX_WAITING, hint: { at: 1 } });
    const room = Math.max(0, MAX_WAITING - count);
    const at = this.clock.now();
    const added = records.slice(0, room).map((record) => ({ ...record, at }));
    if (added.length > 0) await insertAll(this.collection, [added]);
    return countSpans(records.slice(room));
  }

  /** Reads the oldest records up to the size of a request; none if none waits. */
  async nextBatch(): Promise<SpanDoc[]> {
    const batch: SpanDoc[] = [];
    let chars = 0;
    const oldest = this.collection.stream({}, { sort: { at: 1 }, limit: MAX_BATCH_RECORDS, batchSize: 100 });
    for await (const record of oldest) {
      chars += record.json.length;
      const isFull = countSpans(batch) + record.count > MAX_BATCH_SPANS || chars > MAX_BATCH_CHARS;
      if (batch.length > 0 && isFull) break;
      batch.push(record);
    }
    return batch;
  }

  /** Removes records that were sent. */
  async remove(records: readonly Pick<SpanDoc, "_id">[]): Promise<void> {
    await this.collection.deleteMany({ _id: { $in: records.map(({ _id }) => _id) } });
  }

  /** Removes the records from before a time. @returns the number of their spans */
  async removeBefore(time: Date): Promise<number> {
    const old = { at: { $lt: time } };
    const [found] = await this.collection.aggregate<{ spans: number }>([
      { $match: old },
      { $group: { _id: null, spans: { $sum: "$count" } } },
    ]);
    if (found) await this.collection.deleteMany(old);
    return found?.spans ?? 0;
  }
}

export const countSpans = (records: readonly Pick<SpanDoc, "count">[]): number =>
  records.reduce((sum, { count }) => sum + count, 0);
