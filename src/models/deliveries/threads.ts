import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { insertAll } from "../db/insertAll.ts";
import { type DeliveryDoc, threadRef } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";
import { KEEP_SECONDS, type ThreadLinkDoc } from "./threadLink.ts";

type ThreadStores = Pick<DeliveryStores, "deliveries" | "threadLinks">;

/** Maximum deliveries of a thread that are read to find its session. */
const MAX_READ = 20;

/**
 * Finds the session that an answer in a chat continues: that of the newest reply with one of the names, unless a person began
 * another session in the thread, after which a late reply of the former one changes nothing.
 * @param refs the service's names of messages and threads; the first that is known decides
 * @returns null if none is known
 */
export async function findThreadSession(
  { deliveries, threadLinks }: ThreadStores,
  { channel, refs, now }: { readonly channel: string; readonly refs: readonly string[]; readonly now: Date },
): Promise<string | null> {
  const createdAt = { $gt: keptSince(now) };
  const newest = { projection: { sessionKey: 1, replaces: 1 }, sort: { order: -1 }, limit: MAX_READ } as const;
  for (const ref of refs) {
    const query = { refs: threadRef(channel, ref), createdAt };
    const stored = await deliveries.collection.find<Pick<DeliveryDoc, "sessionKey" | "replaces">>(query, newest);
    // Deleted deliveries are older than all others.
    const found = [...stored, ...(await threadLinks.find<ThreadLinkDoc>(query, newest))];
    const replaced = new Set(found.map(({ replaces }) => replaces));
    const keys = found.map(({ sessionKey = MAIN_SESSION }) => sessionKey);
    const current = keys.find((key) => !replaced.has(key));
    if (current !== undefined) return current;
  }
  return null;
}

/** Keeps the sessions of replies whose deliveries are about to be deleted, as long as answers continue them. */
export async function keepThreadLinks(
  { threadLinks }: ThreadStores,
  deliveries: readonly (Omit<ThreadLinkDoc, "refs"> & Pick<DeliveryDoc, "refs">)[],
  now: Date,
): Promise<void> {
  const kept = deliveries.flatMap(({ refs = [], ...one }) =>
    refs.length > 0 && one.createdAt > keptSince(now) ? [{ ...one, refs }] : [],
  );
  if (kept.length > 0) await insertAll(threadLinks, [kept]);
}

const keptSince = (now: Date): Date => new Date(now.getTime() - KEEP_SECONDS * 1_000);
