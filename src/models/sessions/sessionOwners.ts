import { GMAIL_SESSIONS, MAIN_SESSION, SINGLE_USE } from "../../shared/config/formats/sessionKey.ts";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { isDuplicateKey, mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";
import { MAIL_RUN, type RunDoc } from "../runs/run.ts";
import type { Stores } from "../stores.ts";

/** The owner of sessions that requests to `/hooks/agent` name. */
export const AGENT_HOOK = "agent";
/** The owner of sessions that mails of the Gmail listener are in: senders of `/hooks/gmail` are somebody else. */
export const GMAIL_LISTENER = "gmail";
interface Deps {
  readonly sessions: Pick<Stores["sessions"], "collection">;
  readonly runs: Pick<Stores["runs"], "collection">;
}

/** Returns the hook context that a run comes from: `/hooks/agent`, one mapping, or the Gmail listener. */
export function hookContextOf({
  _id,
  mapped,
}: Pick<RunDoc, "_id"> & { readonly mapped: { readonly mapping: string } | null }) {
  if (MAIL_RUN.test(_id)) return GMAIL_LISTENER;
  return mapped ? mappingContext(mapped.mapping) : AGENT_HOOK;
}

/** Returns the context of requests that one mapping takes. */
export const mappingContext = (mapping: string): string => `mapping ${mapping}`;

/**
 * Joins a session for a hook context. The first context that names a key owns its session.
 * @returns whether the session belongs to this context
 * @throws AppError unavailable
 */
export async function assignSessionOwner({ sessions, runs }: Deps, key: string, context: string): Promise<boolean> {
  for (;;) {
    const known = await readFromCaughtUpPrimary(sessions.collection, () =>
      sessions.collection.findOne({ _id: key }, { projection: { owner: 1 } }),
    );
    if (known?.owner !== undefined) return known.owner === context;
    const owner = (await makerOf({ runs }, key)) ?? context;
    await setOwner({ sessions }, key, owner);
  }
}

/**
 * Keeps runs out of the sessions of other contexts, whose turns would wait for them: those that name one get a session of
 * their own, and fail once their mapping is applied.
 * @throws AppError unavailable
 */
export async function withoutForeignSessions<T extends { readonly sessionKey: string | undefined }>(
  { sessions }: Pick<Stores, "sessions">,
  wanted: readonly T[],
  context: string,
): Promise<T[]> {
  const keys = new Set(
    wanted.flatMap(({ sessionKey: key }) => (key === undefined || key === MAIN_SESSION ? [] : [key])),
  );
  if (keys.size === 0) return [...wanted];
  const others = { _id: { $in: [...keys] }, owner: { $exists: true, $ne: context } };
  const theirs = new Set(
    (await readAll(sessions.collection, others, { projection: { _id: 1 } })).map(({ _id }) => _id),
  );
  return wanted.map((run) => (theirs.has(run.sessionKey ?? "") ? { ...run, sessionKey: undefined } : run));
}

/**
 * Gives each session of earlier versions its owner: the context of its oldest run. A session whose runs have all been deleted
 * goes to the one mapping whose sessionKey begins like it, else to `/hooks/agent`.
 * @param mappings of the configuration, with the text of their sessionKey
 * @throws AppError unavailable
 */
export async function migrateSessionOwners(
  stores: Deps,
  mappings: readonly { readonly key: string; readonly sessionKey: string | undefined }[],
): Promise<void> {
  const { sessions } = stores;
  const named = { _id: { $ne: MAIN_SESSION, $not: SINGLE_USE } };
  const unowned = sessions.collection.find({ ...named, owner: { $exists: false } }, { projection: { _id: 1 } });
  for await (const { _id: key } of unowned) {
    await setOwner(stores, key, (await makerOf(stores, key)) ?? likelyOwner(key, mappings));
  }
}

/** The context of the oldest run that had a turn in a session; undefined where there is none. */
async function makerOf({ runs }: Pick<Deps, "runs">, sessionKey: string): Promise<string | undefined> {
  const oldest = await readFromCaughtUpPrimary(runs.collection, () =>
    runs.collection.findOne(
      { sessionKey, stage: "turn" },
      { projection: { "mapped.mapping": 1 }, sort: { createdAt: 1, _id: 1 } },
    ),
  );
  return oldest ? hookContextOf({ _id: oldest._id, mapped: oldest.mapped ?? null }) : undefined;
}

/** Names the owner of a session that has none; one that has keeps it. */
async function setOwner({ sessions }: Pick<Deps, "sessions">, key: string, owner: string): Promise<void> {
  const made = { active: null, lastUsedAt: new Date() };
  const change = { $set: { owner }, $setOnInsert: made };
  try {
    await mapMongoErrors(() =>
      sessions.collection.updateOne({ _id: key, owner: { $exists: false } }, change, { upsert: true }),
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // another request has named the owner
  }
}

function likelyOwner(key: string, mappings: Parameters<typeof migrateSessionOwners>[1]): string {
  if (key.startsWith(GMAIL_SESSIONS)) return GMAIL_LISTENER;
  const likely = mappings.filter(({ sessionKey }) => {
    const [prefix, ...values] = sessionKey?.split("{{") ?? [];
    return prefix !== undefined && prefix !== "" && (values.length > 0 ? key.startsWith(prefix) : key === prefix);
  });
  const [only] = likely;
  return only && likely.length === 1 ? mappingContext(only.key) : AGENT_HOOK;
}
