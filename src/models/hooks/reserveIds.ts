import { randomUUID } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { fingerprintOf, type IdempotencyKeys, keyConflict } from "./idempotencyKey.ts";

/** A request's Idempotency-Key, and what must be the same when the key comes again. */
export interface Idempotency {
  /** Holds the hook or the sender whose key it is. */
  readonly key: string;
  readonly request: unknown;
  /** The key as it was stored before keys were apart for each hook. Such records end within a day of an upgrade. */
  readonly formerKey?: string;
}

type Ids = Record<string, string | readonly string[]>;

/** A record that was inserted under an id that is derived from its key. */
export interface InsertedRecord<T> {
  readonly ids: T;
  /** The fingerprint of the request that it was inserted for. */
  readonly fingerprint: string | undefined;
  readonly createdAt: Date;
}

interface InsertTarget<T> {
  /** The ids of a request whose run or event has this id. */
  idsOf(id: string): T;
  /** Inserts the run or event, with a fingerprint where it is to be found by its key. @returns false when it is there already */
  insert(ids: T, fingerprint?: string): Promise<boolean>;
  find(ids: T): Promise<InsertedRecord<T> | null>;
}

/**
 * Inserts the one run or event of a request, once for its Idempotency-Key. Its id is derived from the key, so that the insert
 * itself finds an earlier request, without a record of the key. Only a key that is used again after its 24 hours gets one,
 * since the derived id is taken then; so has a key of an earlier version.
 * @throws AppError idempotency_conflict, unavailable; what `insert` throws
 */
export async function insertOnce<T extends Ids>(
  keys: IdempotencyKeys,
  idempotency: Idempotency | undefined,
  target: InsertTarget<T>,
): Promise<{ ids: T; isNew: boolean }> {
  const fresh = target.idsOf(randomUUID());
  const insertUnder = async (ids: T) => ({ ids, isNew: await target.insert(ids) });
  if (!idempotency) return insertUnder(fresh);
  const { key, request } = idempotency;
  const reserved = await findReserved(keys, idempotency, fresh);
  if (reserved) return insertUnder(reserved);
  const fingerprint = fingerprintOf(request);
  const ids = target.idsOf(await keys.deriveId(key));
  for (;;) {
    if (await target.insert(ids, fingerprint)) return { ids, isNew: true };
    const earlier = await target.find(ids);
    if (!earlier) continue; // it was deleted in this moment
    if (keys.isOver(earlier.createdAt)) return insertUnder(await keys.reserve(key, request, fresh));
    if (earlier.fingerprint !== fingerprint) throw keyConflict();
    return { ids: earlier.ids, isNew: false };
  }
}

/** Returns the ids that a record of the key holds; null when it has none. @throws AppError idempotency_conflict, unavailable */
async function findReserved<T extends Ids>(
  keys: IdempotencyKeys,
  { key, request, formerKey }: Idempotency,
  fresh: T,
): Promise<T | null> {
  const [record, former] = await Promise.all([keys.find(key), formerKey === undefined ? null : keys.find(formerKey)]);
  const fingerprint = fingerprintOf(request);
  if (record && record.fingerprint !== fingerprint) throw keyConflict();
  if (record) return record.ids as T;
  const fits =
    former?.fingerprint === fingerprint && Object.keys(fresh).every((name) => Object.hasOwn(former.ids, name));
  return fits ? (former?.ids as T) : null;
}

/**
 * Reserves the ids of a request under its Idempotency-Key, in a record of its own.
 * @param findInserted finds what `insertOnce` inserted under an id, where it may have for this key
 * @returns those of the first request with the key; the fresh ones where it is the first, or has no key
 * @throws AppError idempotency_conflict, unavailable
 */
export async function reserveIds<T extends Ids>(
  keys: IdempotencyKeys,
  fresh: T,
  idempotency: Idempotency | undefined,
  findInserted?: (id: string) => Promise<InsertedRecord<T> | null>,
): Promise<T> {
  if (!idempotency) return fresh;
  const { key, request } = idempotency;
  const reserved = await findReserved(keys, idempotency, fresh);
  const inserted = findInserted && !reserved ? await findInserted(await keys.deriveId(key)) : null;
  if (!inserted || keys.isOver(inserted.createdAt)) return keys.reserve(key, request, reserved ?? fresh);
  if (inserted.fingerprint !== fingerprintOf(request)) throw keyConflict();
  return inserted.ids;
}

/** The ids of a request to a mapped hook. */
interface RunIds {
  readonly runIds: string[];
}

/**
 * Reserves the ids of a signed message, which may have come before: with the same signature, or signed anew under the same
 * Idempotency-Key. The record of an Idempotency-Key names the message that it first came with, and that message's record has
 * the ids. Thus neither requests that arrive at once nor a process that ends between the two make a second set of ids.
 * @param message the same whenever a message with this signature, or this signed id, arrives
 * @throws AppError idempotency_conflict where the key came with another message and this one is new; unavailable
 */
export async function reserveMessageIds(
  keys: IdempotencyKeys,
  fresh: RunIds,
  message: string,
  idempotency: Idempotency | undefined,
): Promise<RunIds> {
  if (!idempotency) return keys.reserve(message, null, { ...fresh });
  const known = ((await keys.find(message))?.ids ?? null) as RunIds | null;
  try {
    const wanted = { runIds: (known ?? fresh).runIds, message };
    const first = await reserveIds(keys, wanted, idempotency);
    // records of earlier versions name no message
    const ids = await keys.reserve(first.message ?? message, null, { runIds: first.runIds });
    return await keys.reserve(message, null, ids);
  } catch (error) {
    // What was accepted is answered as the first time, whatever key it carries now: no signature covers the key.
    if (known && error instanceof AppError && error.code === "idempotency_conflict") return known;
    throw error;
  }
}
