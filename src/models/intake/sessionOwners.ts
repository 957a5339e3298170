import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";
import { MAIL_RUN, type MappedCall, type RunDoc } from "../runs/run.ts";
import type { HookRequestDoc } from "./hookRequest.ts";
import type { IntakeStores } from "./intakeStores.ts";

/** The hook context of requests to `/hooks/agent`. */
export const AGENT_HOOK = "agent";
/** The hook context of mails from the Gmail listener. Requests to `/hooks/gmail` have another one. */
export const GMAIL_LISTENER = "gmail";

/** The collections that these commands use. */
interface Deps {
  readonly sessions: Pick<IntakeStores["sessions"], "collection">;
  readonly runs: Pick<IntakeStores["runs"], "collection">;
}

/**
 * Returns the hook context that a run comes from: `/hooks/agent`, one mapping, or the Gmail listener. A replay through the mapping
 * of another sender keeps the context of the sender.
 */
export function hookContextOf({
  _id,
  mapped,
}: Pick<RunDoc, "_id"> & { readonly mapped: Pick<MappedCall, "mapping" | "sender"> | null }) {
  if (MAIL_RUN.test(_id)) return GMAIL_LISTENER;
  return mapped ? (mapped.sender ?? mappingContext(mapped.mapping)) : AGENT_HOOK;
}

/** Returns the context of the sender of a kept request; undefined if no mapping took it. A mail has no response. */
export function senderContext({ mapping, status }: Pick<HookRequestDoc, "mapping" | "status">): string | undefined {
  if (status === null) return GMAIL_LISTENER;
  return mapping === null ? undefined : mappingContext(mapping);
}

/** Returns the context of requests that one mapping takes. */
export const mappingContext = (mapping: string): string => `mapping ${mapping}`;

/**
 * Makes a hook context the owner of a session, unless the session has another owner. The first context that names a session key
 * owns the session.
 * @returns whether this context owns the session
 */
export async function assignSessionOwner({ sessions, runs }: Deps, key: string, context: string): Promise<boolean> {
  for (;;) {
    const session = await sessions.collection.findOne({ _id: key }, { projection: { owner: 1 } });
    if (session?.owner !== undefined) return session.owner === context;
    const owner = (await firstContextOf({ runs }, key)) ?? context;
    await setOwner({ sessions }, key, owner);
  }
}

/**
 * Removes the session keys of sessions that other contexts own, so that these sessions do not wait for foreign runs. Such a run
 * gets a session of its own, and fails once its mapping is applied.
 */
export async function withoutForeignSessions<T extends { readonly sessionKey: string | undefined }>(
  { sessions }: Pick<IntakeStores, "sessions">,
  wanted: readonly T[],
  context: string,
): Promise<T[]> {
  const keys = new Set(
    wanted.flatMap(({ sessionKey: key }) => (key === undefined || key === MAIN_SESSION ? [] : [key])),
  );
  if (keys.size === 0) return [...wanted];
  const ofOthers = { _id: { $in: [...keys] }, owner: { $exists: true, $ne: context } };
  const foreign = new Set((await sessions.collection.find(ofOthers, { projection: { _id: 1 } })).map(({ _id }) => _id));
  return wanted.map((run) => (foreign.has(run.sessionKey ?? "") ? { ...run, sessionKey: undefined } : run));
}

/** Returns the context of the oldest run that had a turn in a session, or undefined if there is none. */
async function firstContextOf({ runs }: Pick<Deps, "runs">, sessionKey: string): Promise<string | undefined> {
  const oldest = await runs.collection.findOne(
    { sessionKey, stage: "turn" },
    { projection: { "mapped.mapping": 1, "mapped.sender": 1 }, sort: { createdAt: 1, _id: 1 } },
  );
  return oldest ? hookContextOf({ _id: oldest._id, mapped: oldest.mapped ?? null }) : undefined;
}

/** Sets the owner of a session that has none. */
async function setOwner({ sessions }: Pick<Deps, "sessions">, key: string, owner: string): Promise<void> {
  const created = { active: null, lastUsedAt: new Date() };
  const change = { $set: { owner }, $setOnInsert: created };
  try {
    await sessions.collection.updateOne({ _id: key, owner: { $exists: false } }, change, { upsert: true });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // Another request has set the owner.
  }
}
