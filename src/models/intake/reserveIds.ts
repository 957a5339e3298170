import { randomUUID } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { fingerprintOf, type IdempotencyKeys, keyConflict } from "../idempotencyKey.ts";

/** A request's Idempotency-Key, and the request that must be the same if the key is used again. */
export interface Idempotency {
  /** Includes the hook or the sender, which have separate keys. */
  readonly key: string;
  readonly request: unknown;
}

type Ids = Record<string, string | readonly string[]>;

/** A record whose id was derived from an Idempotency-Key. */
export interface InsertedRecord<T> {
  readonly ids: T;
  /** The fingerprint of the request that created it. */
  readonly fingerprint: string | undefined;
  readonly createdAt: Date;
}

interface InsertTarget<T> {
  /** Returns the ids of a request whose run or event has this id. */
  idsOf(id: string): T;
  /**
   * Inserts the run or event.
   * @param fingerprint given if its id is derived from a key
   * @returns false if it exists already
   */
  insert(ids: T, fingerprint?: string): Promise<boolean>;
  /** Finds an inserted run or event. */
  find(ids: T): Promise<InsertedRecord<T> | null>;
}

/**
 * Inserts the run or event of a request, once for its Idempotency-Key. Its id is derived from the key, so that the insert itself
 * detects an earlier request, without a record of the key. Records exist only for keys that are used again after they have
 * expired, because the derived id exists already.
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
  const reserved = await findReserved<T>(keys, idempotency);
  if (reserved) return insertUnder(reserved);
  const fingerprint = fingerprintOf(request);
  const ids = target.idsOf(await keys.deriveId(key));
  for (;;) {
    if (await target.insert(ids, fingerprint)) return { ids, isNew: true };
    const earlier = await target.find(ids);
    if (!earlier) continue; // The record has just been deleted.
    if (keys.hasExpired(earlier.createdAt)) return insertUnder(await keys.reserve(key, request, fresh));
    if (earlier.fingerprint !== fingerprint) throw keyConflict();
    return { ids: earlier.ids, isNew: false };
  }
}

/** Returns the ids in the record of a key, or null if it has no record. @throws AppError idempotency_conflict, unavailable */
async function findReserved<T extends Ids>(keys: IdempotencyKeys, { key, request }: Idempotency): Promise<T | null> {
  const record = await keys.find(key);
  if (record && record.fingerprint !== fingerprintOf(request)) throw keyConflict();
  return record && (record.ids as T);
}

/**
 * Reserves the ids of a request under its Idempotency-Key, in a record of its own.
 * @param findInserted finds the record that `insertOnce` inserted under an id; missing if it never inserts for such keys
 * @returns the ids of the first request with the key, which are the fresh ones if the key is new or missing
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
  const reserved = await findReserved<T>(keys, idempotency);
  const inserted = findInserted && !reserved ? await findInserted(await keys.deriveId(key)) : null;
  if (!inserted || keys.hasExpired(inserted.createdAt)) return keys.reserve(key, request, reserved ?? fresh);
  if (inserted.fingerprint !== fingerprintOf(request)) throw keyConflict();
  return inserted.ids;
}

/** The ids of a request to a mapped hook. */
interface RunIds {
  readonly runIds: string[];
}

/**
 * Reserves the ids of a signed message, which may be a repetition: with the same signature, or with a new one under the
 * same Idempotency-Key. The record of an Idempotency-Key refers to the first message with the key, and the record of that
 * message holds the ids. Therefore neither concurrent requests nor a process that dies between the two writes create a
 * second set of ids.
 * @param message identifies the message: equal for messages with the same signature or the same signed id
 * @throws AppError idempotency_conflict if the key was used with another message and this message is new, unavailable
 */
export async function reserveMessageIds(
  keys: IdempotencyKeys,
  fresh: RunIds,
  message: string,
  idempotency: Idempotency | undefined,
): Promise<RunIds> {
  if (!idempotency) return keys.reserve(message, null, { ...fresh });
  const earlier = ((await keys.find(message))?.ids ?? null) as RunIds | null;
  try {
    const wanted = { runIds: (earlier ?? fresh).runIds, message };
    const first = await reserveIds(keys, wanted, idempotency);
    const ids = await keys.reserve(first.message, null, { runIds: first.runIds });
    return await keys.reserve(message, null, ids);
  } catch (error) {
    // A repeated message gets its first response whatever key it has now, because no signature covers the key.
    if (earlier && error instanceof AppError && error.code === "idempotency_conflict") return earlier;
    throw error;
  }
}
