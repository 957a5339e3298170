import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import type { Documents } from "./db/documents.ts";
import { date, nullable, object, oneOf, type Stored, schemaOf, string } from "./db/fields.ts";
import { createdWithin, readNewest } from "./db/newestFirst.ts";

/** The actions that the audit log records. */
export const AUDIT_ACTIONS = [
  "job.delete",
  "jobs.delete",
  "job.cancel",
  "token.create",
  "gate.answer",
  "gate.withdraw",
  "gate.expire",
  "run.retry",
  "run.again",
  "run.cancel",
  "delivery.retry",
  "delivery.cancel",
  "event.delete",
  "channel.test",
  "channel.resume",
  "reply-target.set",
  "reply-target.clear",
  "request.replay",
  "login",
  "token.refused",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An entry of the audit log. It has no bodies and no secrets. */
export const AuditDoc = object({
  _id: string,
  createdAt: date,
  /** The caller: the name of a token, `cookie:NAME`, `job-token:JOB` or `anonymous`. */
  actor: string,
  action: oneOf(AUDIT_ACTIONS),
  /** The id of the record, or the filters of a deletion; null if the action has none. */
  target: nullable(string),
  address: string,
  requestId: string,
});
export type AuditDoc = Stored<typeof AuditDoc>;

export const auditSchema = schemaOf(AuditDoc)
  .index({ createdAt: -1, _id: -1 })
  .index({ actor: 1, createdAt: -1, _id: -1 })
  .index({ action: 1, createdAt: -1, _id: -1 });

/** An entry as clients read it. The time is ISO 8601 UTC with milliseconds. */
export interface AuditView extends Omit<AuditDoc, "_id" | "createdAt"> {
  auditId: string;
  at: string;
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: readonly AuditAction[] | undefined;
  readonly target?: string | undefined;
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Maximum characters of a target. The filters of a deletion can be long. */
const MAX_TARGET_CHARS = 1_024;
/** Maximum entries that one call deletes. */
const BATCH_SIZE = 500;

export class AuditLog {
  readonly collection: Documents<AuditDoc>;
  readonly #clock: Clock;

  constructor(collection: Documents<AuditDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Adds an entry. @throws AppError unavailable */
  async add(
    { actor, address, requestId }: Pick<AuditDoc, "actor" | "address" | "requestId">,
    action: AuditAction,
    target: string | null = null,
  ): Promise<void> {
    const entry = {
      actor,
      address,
      requestId,
      action,
      target: target?.slice(0, MAX_TARGET_CHARS).toWellFormed() ?? null,
    };
    await this.collection.insertOne({ _id: randomUUID(), createdAt: this.#clock.now(), ...entry });
  }

  /** Returns a page of entries, the newest first. @throws AppError unavailable */
  async list({ actor, action, target, from, before, limit, cursor }: AuditQuery): Promise<{
    entries: AuditView[];
    nextCursor: string | null;
  }> {
    const query: mongo.Filter<AuditDoc> = {
      ...(actor !== undefined && { actor }),
      ...(action && { action: { $in: [...action] } }),
      ...(target !== undefined && { target }),
      ...createdWithin(from, before),
    };
    const bytesOf = () => 500;
    const { rows, nextCursor } = await readNewest(this.collection, { query, limit, cursor, bytesOf });
    return { entries: rows.map(view), nextCursor };
  }

  /** Deletes one batch of entries from before a time. @returns the number of deleted entries @throws AppError unavailable */
  async deleteBefore(time: Date): Promise<number> {
    const old = { createdAt: { $lt: time } };
    const batch = await this.collection.find(old, { projection: { _id: 1 }, limit: BATCH_SIZE });
    const ids = batch.map(({ _id }) => _id);
    const { deletedCount } = await this.collection.deleteMany({ ...old, _id: { $in: ids } });
    return deletedCount;
  }
}

function view({ _id, createdAt, ...entry }: AuditDoc): AuditView {
  return { auditId: _id, at: createdAt.toISOString(), ...entry };
}
