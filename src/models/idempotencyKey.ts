import { createHmac, hash, randomBytes } from "node:crypto";
import { Batcher, EQUAL_WEIGHTS } from "../shared/batcher.ts";
import { AppError } from "../shared/errors.ts";
import { toJson } from "../shared/text/json.ts";
import * as f from "./db/fields.ts";
import { isDuplicateKey } from "./db/mongoErrors.ts";
import { retryUpsert } from "./db/retry.ts";
import { Store } from "./db/store.ts";

/** How long a key refers to its first request. */
const LIFETIME_SECONDS = 86_400;

/** The first request with a key, and the ids that it got; or the secret of `deriveId`, which has no other fields. */
export const IdempotencyKeyDoc = f.object({
  _id: f.string,
  fingerprint: f.optional(f.string),
  ids: f.free<Record<string, string | readonly string[]>>(),
  /** The record of a key is deleted a day later. */
  createdAt: f.optional(f.date),
});
export type IdempotencyKeyDoc = f.Stored<typeof IdempotencyKeyDoc>;

export const idempotencyKeySchema = f
  .schemaOf(IdempotencyKeyDoc)
  .index({ createdAt: 1 }, { expireAfterSeconds: LIFETIME_SECONDS });

/** The document that holds the secret of `deriveId`. It has no `createdAt`, so that it never expires. */
const SECRET = "secret";

export class IdempotencyKeys extends Store<IdempotencyKeyDoc> {
  readonly #reader = new Batcher<string, IdempotencyKeyDoc | null>(async (ids) => {
    const found = new Map((await this.collection.find({ _id: { $in: [...ids] } })).map((doc) => [doc._id, doc]));
    return ids.map((id) => found.get(id) ?? null);
  }, EQUAL_WEIGHTS);
  #secret: Promise<string> | undefined;

  /** Returns the record of a key, or null if there is none. */
  find(key: string): Promise<IdempotencyKeyDoc | null> {
    return this.#reader.add(digest(key));
  }

  /**
   * Reserves ids under a key.
   * @param request the hook and the body of the request; null if the key alone identifies requests
   * @returns the given ids if the key is new, otherwise those of the first request
   * @throws AppError invalid_body, idempotency_conflict if the first request with the key was a different one, unavailable
   */
  async reserve<T extends Record<string, string | readonly string[]>>(
    key: string,
    request: unknown,
    ids: T,
  ): Promise<T> {
    const fingerprint = fingerprintOf(request);
    const _id = digest(key);
    const first = { _id, fingerprint, ids, createdAt: this.clock.now() };
    try {
      await this.collection.insertOne(first);
      return ids;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await this.collection.findOne({ _id });
    if (earlier?.fingerprint === fingerprint) return earlier.ids as T;
    if (!earlier) return this.reserve(key, request, ids); // The record has just expired.
    throw keyConflict();
  }

  /** Returns whether a key that was first used at a time has expired. */
  hasExpired(createdAt: Date): boolean {
    return this.clock.now().getTime() - createdAt.getTime() > LIFETIME_SECONDS * 1_000;
  }

  /**
   * Derives a UUID from a key, the same in every process. Nobody can guess it from the key, because anybody with a run's id
   * and the hook token may read the run.
   */
  async deriveId(key: string): Promise<string> {
    const bytes = createHmac("sha256", await this.readSecret())
      .update(key)
      .digest()
      .subarray(0, 16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40; // Version 4, because the id looks random to everybody else.
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  /**
   * Returns the database's secret, which is created once. Whoever needs a key for another purpose derives it from this one
   * by HKDF.
   */
  readSecret(): Promise<string> {
    this.#secret ??= this.#findSecret().catch((error: unknown) => {
      this.#secret = undefined;
      throw error;
    });
    return this.#secret;
  }

  async #findSecret(): Promise<string> {
    const created = { $setOnInsert: { ids: { secret: randomBytes(32).toString("base64url") } } };
    const options = { upsert: true, returnDocument: "after" } as const;
    const doc = await retryUpsert(() => this.collection.findOneAndUpdate({ _id: SECRET }, created, options));
    return doc?.ids.secret as string;
  }
}

/** Returns the fingerprint that two requests with one key must share. @throws AppError invalid_body */
export const fingerprintOf = (request: unknown): string => digest(toJson(request));

export const keyConflict = (): AppError =>
  new AppError("idempotency_conflict", {
    detail:
      "This Idempotency-Key was used with a different body within the last 24 hours. Use a new key for each new request.",
  });

const digest = (text: string): string => hash("sha256", text, "base64url");
