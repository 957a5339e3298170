import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import { AuditAction, type AuditEntry } from "../wire/audit.ts";
import * as f from "./db/fields.ts";
import { createdWithin, type NewestQuery, readNewest } from "./db/newestFirst.ts";
import { Store } from "./db/store.ts";

/** An entry of the audit log. It has no bodies and no secrets. */
export const AuditDoc = f.object({
  _id: f.string,
  createdAt: f.date,
  /** The caller: the name of a token, `cookie:NAME`, `job-token:JOB` or `anonymous`. */
  actor: f.string,
  action: f.oneOf(AuditAction.enum),
  /** The id of the record, or the filters of a deletion; null if the action has none. */
  target: f.nullable(f.string),
  address: f.string,
  /** The id that the caller sent, or that of the service. */
  requestId: f.string,
  /** The id that the service gave the request. */
  serviceRequestId: f.string,
});
export type AuditDoc = f.Stored<typeof AuditDoc>;

export const auditSchema = f
  .schemaOf(AuditDoc)
  .index({ createdAt: -1, _id: -1 })
  .index({ actor: 1, createdAt: -1, _id: -1 })
  .index({ action: 1, createdAt: -1, _id: -1 });

export interface AuditQuery extends NewestQuery {
  readonly actor?: string | undefined;
  readonly action?: readonly AuditAction[] | undefined;
  readonly target?: string | undefined;
}

/** The filters that a target begins with. */
const FIRST_FILTERS: readonly string[] = ["jobId", "all", "status"];
/** Maximum characters of a target. The filters of a deletion can be long. */
const MAX_TARGET_CHARS = 4_096;
/** Maximum entries that one call deletes. */
const BATCH_SIZE = 500;

export class AuditLog extends Store<AuditDoc> {
  /** Adds an entry. @returns its id */
  async add(
    caller: Pick<AuditDoc, "actor" | "address" | "requestId" | "serviceRequestId">,
    action: AuditAction,
    target: string | null = null,
  ): Promise<string> {
    const _id = randomUUID();
    const { actor, address, requestId, serviceRequestId } = caller;
    const stored = target?.slice(0, MAX_TARGET_CHARS).toWellFormed() ?? null;
    const createdAt = this.clock.now();
    await this.collection.insertOne({
      _id,
      createdAt,
      actor,
      address,
      requestId,
      serviceRequestId,
      action,
      target: stored,
    });
    return _id;
  }

  /** Removes the entry of an act that did not take place. */
  async remove(auditId: string): Promise<void> {
    await this.collection.deleteOne({ _id: auditId });
  }

  /** Returns a page of entries, the newest first. */
  async list({ actor, action, target, from, before, limit, cursor }: AuditQuery): Promise<{
    entries: AuditEntry[];
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

  /** Deletes one batch of entries from before a time. @returns the number of deleted entries */
  async deleteBefore(time: Date): Promise<number> {
    const old = { createdAt: { $lt: time } };
    const batch = await this.collection.find(old, { projection: { _id: 1 }, limit: BATCH_SIZE });
    const ids = batch.map(({ _id }) => _id);
    const { deletedCount } = await this.collection.deleteMany({ ...old, _id: { $in: ids } });
    return deletedCount;
  }
}

function view({ _id, createdAt, ...entry }: AuditDoc): AuditEntry {
  return { auditId: _id, at: createdAt.toISOString(), ...entry };
}

/** Returns the target of an entry about a gate. A slash within an id is encoded, so that no two gates have the same target. */
export const gateTarget = (...ids: readonly [jobId: string, key: string]): string =>
  ids.map((id) => id.replace(/[%/]/g, encodeURIComponent)).join("/");

/**
 * Returns the target of an entry about a deletion by filters: ids and names first, lists sorted and without repetitions, so that
 * the caller does not choose what a cut leaves out.
 */
export function filterTarget(filters: Readonly<Record<string, unknown>>): string {
  const rank = (name: string) => (FIRST_FILTERS.includes(name) ? FIRST_FILTERS.indexOf(name) : FIRST_FILTERS.length);
  const sorted = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .toSorted(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)].toSorted() : value]);
  return JSON.stringify(Object.fromEntries(sorted));
}
