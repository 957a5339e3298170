import type { Session } from "../../wire/session.ts";
import { isHeld } from "../db/lease.ts";
import { readNewest } from "../db/newestFirst.ts";
import type { SessionStores } from "./sessionStores.ts";

/** Returns a page of sessions, the most recently used first. */
export async function listSessions(
  { sessions }: SessionStores,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  now: Date,
): Promise<{ sessions: Session[]; nextCursor: string | null }> {
  const list = { query: {}, by: "lastUsedAt", limit, cursor, bytesOf: () => 0 } as const;
  const { rows, nextCursor } = await readNewest(sessions.collection, list);
  return {
    sessions: rows.map(({ _id, lastUsedAt, active, agentId = null }) => ({
      sessionKey: _id,
      agentId,
      lastUsedAt: lastUsedAt.toISOString(),
      busy: isHeld(active, now),
    })),
    nextCursor,
  };
}
