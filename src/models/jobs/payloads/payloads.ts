import { mongo } from "mongoose";
import type { Documents } from "../../db/documents.ts";
import * as f from "../../db/fields.ts";
import { insertAll } from "../../db/insertAll.ts";

/** JSON text that is too large for the record that refers to it, or the output of a step. It never changes. */
export const PayloadDoc = f.object({
  _id: f.objectId,
  /** The jobId of the job that it belongs to. */
  jobId: f.string,
  text: f.string,
});
export type PayloadDoc = f.Stored<typeof PayloadDoc>;

export const payloadSchema = f.schemaOf(PayloadDoc).index({ jobId: 1, _id: 1 });

/** A reference to a stored payload, with the length of its text in characters. */
export const PayloadRef = f.object({
  payload: f.objectId,
  length: f.number,
});
export type PayloadRef = f.Stored<typeof PayloadRef>;

/** A free object as a record stores it: its JSON text, or a reference to the stored text. */
export const Payload = f.free<string | PayloadRef>();
export type Payload = f.Stored<typeof Payload>;

/** Maximum characters of a text that is stored inside its record, so that most jobs are read with one query. */
const MAX_INLINE_LENGTH = 32 * 1024;

/** Returns the length of a payload's text in characters. */
export const lengthOf = (payload: Payload | null | undefined): number => payload?.length ?? 0;

export const isStored = (payload: Payload | null | undefined): payload is PayloadRef =>
  payload !== null && typeof payload === "object";

/**
 * Decides where texts are stored, and collects those that must be written before the record that refers to them. Each text gets
 * a new id, so that a record and its reference change together.
 */
export class PayloadWrites {
  readonly docs: PayloadDoc[] = [];

  /** Returns a short text itself, to be stored in the record, and a reference to a longer one. */
  keep(jobId: string, text: string): Payload {
    return text.length <= MAX_INLINE_LENGTH ? text : this.store(jobId, text);
  }

  /** Returns a reference to a text of any length. */
  store(jobId: string, text: string): PayloadRef {
    const _id = new mongo.ObjectId();
    this.docs.push({ _id, jobId, text });
    return { payload: _id, length: text.length };
  }
}

export class Payloads {
  readonly collection: Documents<PayloadDoc>;

  constructor(collection: Documents<PayloadDoc>) {
    this.collection = collection;
  }

  /**
   * Writes payloads before the records that refer to them. Those that exist stay: a batch of reports that has failed is repeated
   * one by one.
   * @throws AppError unavailable, body_too_large
   */
  async write(docs: readonly PayloadDoc[]): Promise<void> {
    if (docs.length > 0) await insertAll(this.collection, [docs]);
  }

  /**
   * Reads the texts of stored payloads.
   * @returns texts by the hexadecimal ids of their payloads, without payloads that a newer write has replaced
   */
  async read(
    refs: readonly { readonly jobId: string; readonly ref: PayloadRef }[],
  ): Promise<ReadonlyMap<string, string>> {
    if (refs.length === 0) return new Map();
    const jobId = { $in: [...new Set(refs.map((one) => one.jobId))] };
    const found = await this.collection.find({ jobId, _id: { $in: refs.map(({ ref }) => ref.payload) } });
    return new Map(found.map(({ _id, text }) => [_id.toHexString(), text]));
  }

  /** Deletes payloads that no record refers to. */
  async delete(jobIds: readonly string[], ids: readonly mongo.ObjectId[]): Promise<void> {
    if (ids.length === 0) return;
    await this.collection.deleteMany({ jobId: { $in: [...jobIds] }, _id: { $in: [...ids] } });
  }
}
