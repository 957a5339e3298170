import { AppError } from "../../shared/errors.ts";
import type { IdempotencyKeys } from "../idempotencyKey.ts";

/** A request's Idempotency-Key, and what must be the same when the key comes again. */
export interface Idempotency {
  /** Holds the hook or the sender whose key it is. */
  readonly key: string;
  readonly request: unknown;
  /** The key as it was stored before keys were apart for each hook. Such records end within a day of an upgrade. */
  readonly formerKey?: string;
}

type Ids = Record<string, string | readonly string[]>;

/**
 * Reserves the ids of a request under its Idempotency-Key.
 * @returns those of the first request with the key; the fresh ones where it is the first, or has no key
 * @throws AppError idempotency_conflict, unavailable
 */
export async function reserveIds<T extends Ids>(
  keys: IdempotencyKeys,
  fresh: T,
  idempotency: Idempotency | undefined,
): Promise<T> {
  if (!idempotency) return fresh;
  const { key, request, formerKey } = idempotency;
  const former = formerKey === undefined ? null : await keys.find(formerKey, request);
  const fits = former !== null && Object.keys(fresh).every((name) => Object.hasOwn(former, name));
  return keys.settle(key, request, fits ? (former as T) : fresh);
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
  if (!idempotency) return keys.settle(message, null, { ...fresh });
  const known = (await keys.find(message, null)) as RunIds | null;
  try {
    const wanted = { runIds: (known ?? fresh).runIds, message };
    const first = await reserveIds(keys, wanted, idempotency);
    // records of earlier versions name no message
    const ids = await keys.settle(first.message ?? message, null, { runIds: first.runIds });
    return await keys.settle(message, null, ids);
  } catch (error) {
    // What was accepted is answered as the first time, whatever key it carries now: no signature covers the key.
    if (known && error instanceof AppError && error.code === "idempotency_conflict") return known;
    throw error;
  }
}
