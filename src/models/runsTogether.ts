import type { mongo } from "mongoose";
import { updateByIds } from "./guard.ts";
import { readAll } from "./readAll.ts";
import { type AgentRun, type RunClaim, type RunDoc, type RunEnd, UNSETTLED } from "./run.ts";

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

/** Of some sessions those of which a run has ended since a time whose end has not been seen through. */
export async function findUnsettledSessions(
  collection: mongo.Collection<RunDoc>,
  sessionKeys: readonly string[],
  since: Date,
): Promise<Set<string>> {
  if (sessionKeys.length === 0) return new Set();
  const unsettled = { settled: false, sessionKey: { $in: [...sessionKeys] }, endedAt: { $gt: since } };
  const found = await readAll(collection, unsettled, { projection: { sessionKey: 1 }, hint: UNSETTLED });
  return new Set(found.map(({ sessionKey }) => sessionKey));
}

/**
 * Takes runs that are still as they were read, each once: those that were read alike with one change.
 * @returns how each is now, or null where somebody else was faster
 */
export async function claimAll(
  collection: mongo.Collection<RunDoc>,
  runs: readonly RunDoc[],
  claim: RunClaim,
  now: Date,
): Promise<(RunDoc | null)[]> {
  if (runs.length === 0) return [];
  const alike = Map.groupBy(runs, (run) => JSON.stringify(stateOf(run)));
  const updates = [...alike.values()].map((those) => {
    const [first] = those as [RunDoc];
    const asRead = { _id: { $in: those.map(({ _id }) => _id) }, ...stateOf(first) };
    return { filter: asRead, update: { $set: taken(first, claim, now) } };
  });
  const { modifiedCount } = await updateByIds(collection, updates);
  const after = runs.map((run) => ({ ...run, ...taken(run, claim, now) }));
  if (modifiedCount === runs.length) return after;
  const ours = { _id: { $in: runs.map(({ _id }) => _id) }, "claim.token": claim.token };
  const found = await readAll(collection, ours, { projection: { _id: 1 } });
  const ids = new Set(found.map(({ _id }) => _id));
  return after.map((run) => (ids.has(run._id) ? run : null));
}

/** What a claim finds unchanged. */
const stateOf = ({ stage, status, attempts, round, claim }: RunDoc) => {
  const byThen = claim && { "claim.token": claim.token, "claim.until": claim.until };
  return { stage, status, attempts, round, ...byThen };
};

const taken = ({ attempts }: RunDoc, { token, until }: RunClaim, now: Date) => ({
  status: "running" as const,
  startedAt: now,
  claim: { token, until },
  notBefore: null,
  attempts: attempts + 1,
});

export interface Ending {
  /** The run as its worker has taken it. */
  readonly run: AgentRun;
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
  const updates = endings.map(({ run: { _id, claim } }, i) => {
    const filter = { _id, status: "running" as const, "claim.token": claim.token };
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
