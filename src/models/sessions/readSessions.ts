import type { mongo } from "mongoose";
import { idCursor, olderThan } from "../db/idCursor.ts";
import { isHeld } from "../db/lease.ts";
import { readPage } from "../db/page.ts";
import type { Stores } from "../stores.ts";
import type { SessionDoc } from "./session.ts";

/** A session as lists show it. */
export interface SessionView {
  sessionKey: string;
  lastUsedAt: string;
  busy: boolean;
}

/** Returns a page of sessions, the most recently used first. @throws AppError unavailable */
export async function listSessions(
  { sessions }: Stores,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  now: Date,
): Promise<{ sessions: SessionView[]; nextCursor: string | null }> {
  const query: mongo.Filter<SessionDoc> = cursor === undefined ? {} : olderThan(cursor, "lastUsedAt");
  const find = () => sessions.collection.find(query).sort({ lastUsedAt: -1, _id: -1 });
  const { rows, last } = await readPage(sessions.collection, find, { limit, bytesOf: () => 0 });
  return {
    sessions: rows.map(({ _id, lastUsedAt, active }) => ({
      ...{ sessionKey: _id, lastUsedAt: lastUsedAt.toISOString(), busy: isHeld(active, now) },
    })),
    nextCursor: last && idCursor({ _id: last._id, createdAt: last.lastUsedAt }),
  };
}
