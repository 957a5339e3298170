import { hash } from "node:crypto";
import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { toJson } from "../shared/json.ts";
import { guard, isDuplicateKey } from "./guard.ts";
import { reading } from "./newPrimary.ts";

const KEEP_SECONDS = 86_400;

/** What the first request with a key was, and which ids it was given. */
export interface IdempotencyKeyDoc {
  _id: string;
  fingerprint: string;
  ids: Readonly<Record<string, string | readonly string[]>>;
  createdAt: Date;
}

export const idempotencyKeySchema = new Schema<IdempotencyKeyDoc>(
  { _id: String, fingerprint: String, ids: Schema.Types.Mixed, createdAt: Date },
  { versionKey: false },
);
idempotencyKeySchema.index({ createdAt: 1 }, { expireAfterSeconds: KEEP_SECONDS });

export class IdempotencyKeys {
  readonly collection: mongo.Collection<IdempotencyKeyDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<IdempotencyKeyDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Returns the ids that belong to a key, null where it is new or came with another request. @throws AppError unavailable */
  async find(key: string, request: unknown): Promise<IdempotencyKeyDoc["ids"] | null> {
    const earlier = await reading(this.collection, () => this.collection.findOne({ _id: digest(key) }));
    return earlier?.fingerprint === digest(toJson(request)) ? earlier.ids : null;
  }

  /**
   * The ids that belong to a key: the ones given now when the key is new, those of the first request otherwise.
   * @param request the hook and the body that the key came with; nothing where the key alone tells requests apart
   * @throws AppError invalid_body, idempotency_conflict when the first request with the key was another, unavailable
   */
  async settle<T extends Record<string, string | readonly string[]>>(
    key: string,
    request: unknown,
    ids: T,
  ): Promise<T> {
    const fingerprint = digest(toJson(request));
    const _id = digest(key);
    const first = { _id, fingerprint, ids, createdAt: this.#clock.now() };
    try {
      await guard(() => this.collection.insertOne(first));
      return ids;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await reading(this.collection, () => this.collection.findOne({ _id }));
    if (earlier?.fingerprint === fingerprint) return earlier.ids as T;
    if (!earlier) return this.settle(key, request, ids); // it expired in this moment
    throw new AppError("idempotency_conflict", {
      detail:
        "This Idempotency-Key came with another request (another body) within the last 24 hours: take a new key for a new request.",
    });
  }
}

const digest = (text: string): string => hash("sha256", text, "base64url");
