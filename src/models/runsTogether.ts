import type { mongo } from "mongoose";
import { updateByIds } from "./guard.ts";
import { readAll } from "./readAll.ts";
import type { RunDoc, RunEnd } from "./run.ts";

export interface RunInSession {
  readonly run: RunDoc;
  /** Of an open run: which one of its session comes next, of those not ended the one accepted first. */
  readonly nextRunId: string | null;
}

/**
 * Reads runs. A run that was given a session of its own is the first in it: nobody else knew the key before it was accepted.
 * @returns each with the next of its session, or null where there is no such run
 */
export async function findInSessions(
  collection: mongo.Collection<RunDoc>,
  runIds: readonly string[],
): Promise<(RunInSession | null)[]> {
  const found = await readAll(collection, { _id: { $in: [...runIds] } });
  const runs = new Map(found.map((run) => [run._id, run]));
  const keys = found.flatMap(({ open, singleUse, sessionKey }) => (open && !singleUse ? [sessionKey] : []));
  const next = new Map((await findNextIds(collection, keys)).map((id, i) => [keys[i], id]));
  return runIds.map((runId) => {
    const run = runs.get(runId);
    if (!run) return null;
    const nextRunId = run.open && run.singleUse ? runId : next.get(run.sessionKey);
    return { run, nextRunId: nextRunId ?? null };
  });
}

/** Of each session the run that comes next; null where none waits. */
export async function findNextIds(
  collection: mongo.Collection<RunDoc>,
  sessionKeys: readonly string[],
): Promise<(string | null)[]> {
  const find = (sessionKey: mongo.Condition<string>, limit: number) => {
    const options = { projection: { sessionKey: 1 }, sort: { sessionKey: 1, order: 1 }, limit } as const;
    return readAll(collection, { open: true, sessionKey }, options);
  };
  const keys = [...new Set(sessionKeys)];
  if (keys.length === 0) return [];
  const most = 2 * keys.length;
  const found = await find({ $in: keys }, most);
  const next = new Map(found.toReversed().map(({ _id, sessionKey }) => [sessionKey, _id]));
  if (found.length === most) {
    // where many wait in one session, others are behind them
    const behind = keys.filter((key) => !next.has(key));
    for (const run of (await Promise.all(behind.map((key) => find(key, 1)))).flat()) next.set(run.sessionKey, run._id);
  }
  return sessionKeys.map((key) => next.get(key) ?? null);
}

export interface Claiming {
  /** The run as it was read: it waits, or its worker has gone silent. */
  readonly run: RunDoc;
  readonly token: string;
  readonly until: Date;
}

/** Takes runs that are still as they were read. @returns how each is now, or null where somebody else was faster */
export async function claimAll(
  collection: mongo.Collection<RunDoc>,
  claims: readonly Claiming[],
  now: Date,
): Promise<(RunDoc | null)[]> {
  const changes = claims.map((claim) => taken(claim, now));
  const updates = claims.map(({ run: { _id, stage, status, attempts, round, claim } }, i) => {
    const isAsRead = { _id, stage, status, attempts, round };
    const byThen = claim && { "claim.token": claim.token, "claim.until": claim.until };
    return { filter: { ...isAsRead, ...byThen }, update: { $set: changes[i]! } };
  });
  const { modifiedCount } = await updateByIds(collection, updates);
  const after = claims.map(({ run }, i) => ({ ...run, ...changes[i]! }));
  if (modifiedCount === claims.length) return after;
  const ids = { _id: { $in: claims.map(({ run }) => run._id) } };
  const found = await readAll(collection, ids, { projection: { claim: 1 } });
  const tokens = new Map(found.map(({ _id, claim }) => [_id, claim?.token]));
  return after.map((run) => (tokens.get(run._id) === run.claim.token ? run : null));
}

const taken = ({ run: { attempts }, token, until }: Claiming, now: Date) => ({
  status: "running" as const,
  startedAt: now,
  claim: { token, until },
  notBefore: null,
  attempts: attempts + 1,
});

export interface Ending {
  /** The run as its worker has taken it. */
  readonly run: RunDoc;
  readonly token: string;
  readonly end: RunEnd;
  readonly now: Date;
}

/**
 * Ends runs that are still their workers'.
 * @returns each as it has ended, also when somebody else has ended it; null where that has been seen through already, and
 *   where it goes on with another worker
 */
export async function endAll(
  collection: mongo.Collection<RunDoc>,
  endings: readonly Ending[],
): Promise<(RunDoc | null)[]> {
  const changes = endings.map(({ end, now }) => ended(end, now));
  const updates = endings.map(({ run: { _id }, token }, i) => {
    const filter = { _id, status: "running" as const, "claim.token": token };
    return { filter, update: { $set: changes[i]! } };
  });
  const { modifiedCount } = await updateByIds(collection, updates);
  if (modifiedCount === endings.length) return endings.map(({ run }, i) => ({ ...run, ...changes[i]! }));
  const over = { _id: { $in: endings.map(({ run }) => run._id) }, settled: false };
  const found = await readAll(collection, over);
  const byId = new Map(found.map((run) => [run._id, run]));
  return endings.map(({ run }) => byId.get(run._id) ?? null);
}

/** What is written of a run that ends. */
export function ended(end: RunEnd, now: Date) {
  const { status, ...said } = end;
  const outcome = status === "completed" ? { ...said, error: null } : said;
  return { status, ...outcome, open: false, claim: null, notBefore: null, settled: false, endedAt: now };
}
