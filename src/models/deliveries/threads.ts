import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { type DeliveryDoc, threadRef } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

/** How long an answer to a reply continues its session: 30 days. */
const KEEP_MS = 30 * 86_400_000;
/** Maximum deliveries of a thread that are read to find its session. */
const MAX_READ = 20;

/**
 * Finds the session that an answer in a chat continues: that of the newest reply with one of the names, unless a person began
 * another session in the thread, after which a late reply of the former one changes nothing.
 * @param refs the service's names of messages and threads; the first that is known decides
 * @returns null if none is known
 * @throws AppError unavailable
 */
export async function findThreadSession(
  { deliveries }: Pick<DeliveryStores, "deliveries">,
  { channel, refs, now }: { readonly channel: string; readonly refs: readonly string[]; readonly now: Date },
): Promise<string | null> {
  const createdAt = { $gt: new Date(now.getTime() - KEEP_MS) };
  const newest = { projection: { sessionKey: 1, replaces: 1 }, sort: { order: -1 }, limit: MAX_READ } as const;
  for (const ref of refs) {
    const query = { refs: threadRef(channel, ref), createdAt };
    const found = await deliveries.collection.find<Pick<DeliveryDoc, "sessionKey" | "replaces">>(query, newest);
    const replaced = new Set(found.map(({ replaces }) => replaces));
    const keys = found.map(({ sessionKey = MAIN_SESSION }) => sessionKey);
    const current = keys.find((key) => !replaced.has(key));
    if (current !== undefined) return current;
  }
  return null;
}
