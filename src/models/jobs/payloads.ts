import { mongo, Schema } from "mongoose";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";

/** JSON text that is too large for the record it belongs to, or an output of a step. Never changed once it is written. */
export interface PayloadDoc {
  _id: mongo.ObjectId;
  /** The job that it was written for. */
  jobId: string;
  text: string;
}

export const payloadSchema = new Schema<PayloadDoc>({ jobId: String, text: String }, { versionKey: false });
/** Covers the sweep, which looks for payloads of jobs that are gone. */
payloadSchema.index({ jobId: 1, _id: 1 });

/** A reference to a stored payload, with the length of its text in characters. */
export interface PayloadRef {
  readonly payload: mongo.ObjectId;
  readonly length: number;
}

/** A free object as a record holds it: its JSON text, or a reference to it. */
export type Payload = string | PayloadRef;

/** Texts up to this many characters stay in the record, so that reading a usual job is one read of one document. */
const MAX_INLINE_LENGTH = 32 * 1024;

/** Characters of a payload, wherever it is kept. */
export const lengthOf = (payload: Payload | null | undefined): number => payload?.length ?? 0;

export const isStored = (payload: Payload | null | undefined): payload is PayloadRef =>
  payload !== null && typeof payload === "object";

/**
 * Decides where texts are kept, and collects those that must be written before the record that refers to them. A record
 * changes together with its reference, because each text gets a fresh id.
 */
export class PayloadWrites {
  readonly docs: PayloadDoc[] = [];

  /** Keeps a text in the record if it is short. */
  keep(jobId: string, text: string): Payload {
    return text.length <= MAX_INLINE_LENGTH ? text : this.store(jobId, text);
  }

  /** Keeps a text outside of the record, whatever its length. */
  store(jobId: string, text: string): PayloadRef {
    const _id = new mongo.ObjectId();
    this.docs.push({ _id, jobId, text });
    return { payload: _id, length: text.length };
  }
}

export class Payloads {
  readonly collection: mongo.Collection<PayloadDoc>;

  constructor(collection: mongo.Collection<PayloadDoc>) {
    this.collection = collection;
  }

  /** Writes payloads before the records that refer to them. @throws AppError unavailable, body_too_large */
  async write(docs: readonly PayloadDoc[]): Promise<void> {
    if (docs.length === 0) return;
    await mapMongoErrors(() => this.collection.insertMany([...docs]));
  }

  /**
   * Reads the texts of stored payloads.
   * @returns them by their ids in hexadecimal; one that a newer write has replaced meanwhile is missing
   * @throws AppError unavailable
   */
  async read(
    refs: readonly { readonly jobId: string; readonly ref: PayloadRef }[],
  ): Promise<ReadonlyMap<string, string>> {
    if (refs.length === 0) return new Map();
    const jobId = { $in: [...new Set(refs.map((one) => one.jobId))] };
    const found = await readAll(this.collection, { jobId, _id: { $in: refs.map(({ ref }) => ref.payload) } });
    return new Map(found.map(({ _id, text }) => [_id.toHexString(), text]));
  }

  /** Deletes payloads that no record refers to any more. @throws AppError unavailable */
  async delete(jobIds: readonly string[], ids: readonly mongo.ObjectId[]): Promise<void> {
    if (ids.length === 0) return;
    await mapMongoErrors(() => this.collection.deleteMany({ jobId: { $in: [...jobIds] }, _id: { $in: [...ids] } }));
  }
}
