import { isDuplicateKey } from "../db/mongoErrors.ts";
import type { IntakeStores } from "./intakeStores.ts";

/** The collections that these commands use. */
interface Deps {
  readonly sessions: Pick<IntakeStores["sessions"], "collection">;
  readonly runs: Pick<IntakeStores["runs"], "collection">;
}

/**
 * Returns the agent to which a session belongs: that of its first run.
 * @returns null for the agent of `agents.defaults`; undefined if the session has had no run
 */
export async function findSessionAgent({ sessions, runs }: Deps, key: string): Promise<string | null | undefined> {
  const session = await sessions.collection.findOne({ _id: key }, { projection: { agentId: 1 } });
  if (session?.agentId !== undefined) return session.agentId;
  const newest = await runs.collection.findOne(
    { sessionKey: key, request: { $ne: null } },
    { projection: { "request.agentId": 1 }, sort: { createdAt: -1, _id: -1 } },
  );
  return newest ? (newest.request?.agentId ?? null) : undefined;
}

/**
 * Gives a session that has had no run to an agent.
 * @param agentId undefined for the agent of `agents.defaults`
 * @returns the agent to which the session belongs, which may be another one
 */
export async function assignSessionAgent(
  stores: Deps,
  key: string,
  agentId: string | null | undefined,
): Promise<string | null> {
  for (;;) {
    const owner = await findSessionAgent(stores, key);
    if (owner !== undefined) return owner;
    const change = { $set: { agentId: agentId ?? null }, $setOnInsert: { active: null, lastUsedAt: new Date() } };
    const query = { _id: key, agentId: { $exists: false } };
    await stores.sessions.collection.updateOne(query, change, { upsert: true }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error; // another request has given the session to an agent
    });
  }
}

/** Returns why a run may not name an agent in a session of another one, worded to follow the field's name. */
export const otherAgent = (owner: string | null): string =>
  `is not the agent of the session, which belongs to ${owner ?? "the agent of agents.defaults"}: leave it out, or choose another sessionKey`;
