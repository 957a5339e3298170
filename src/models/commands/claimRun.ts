import type { AgentRun, RunDoc } from "../run.ts";
import type { Stores } from "../stores.ts";

/** A worker that wants a run. */
export interface RunClaim {
  readonly runId: string;
  readonly token: string;
  readonly until: Date;
  readonly now: Date;
}

/** Why a worker does not get a run: it is over or somebody else's; or others of its session come first. */
export type NotClaimed = "over" | "waiting";

/**
 * Takes runs for workers, where it is the turn of their sessions: one session's runs go one at a time, in the order they
 * were accepted. A run that has to wait is put on the queue again by whoever ends the one before.
 * @throws AppError unavailable
 */
export async function claimRuns(
  { runs, sessions }: Pick<Stores, "runs" | "sessions">,
  claims: readonly RunClaim[],
): Promise<(AgentRun | NotClaimed)[]> {
  const found = await runs.findInSessions(claims.map(({ runId }) => runId));
  const results = found.map((one, i): NotClaimed | RunDoc => {
    if (!one?.run.open) return "over";
    const { now } = claims[i]!;
    const { stage, status, claim, notBefore } = one.run;
    if (stage === "mapping") return "waiting";
    if (status === "running" && claim && claim.until > now) return "over";
    if ((notBefore && notBefore > now) || one.nextRunId !== one.run._id) return "waiting";
    return one.run;
  });
  const free = results.flatMap((run, i) => (typeof run === "string" ? [] : [{ ...claims[i]!, run, i }]));
  if (free.length === 0) return results as NotClaimed[];
  const turns = free.map(({ run, token, until }) => {
    const isNew = run.singleUse && run.round === 0 && run.attempts === 0;
    return { key: run.sessionKey, holder: holderOf(run), token, until, isNew };
  });
  const isTaken = await sessions.claimEach(turns);
  const ready = free.filter((_, turn) => isTaken[turn]);
  const claimed = ready.length > 0 ? await runs.claimEach(ready) : [];
  const lost = ready.filter((_, turn) => claimed[turn] === null).map(({ run }) => run);
  if (lost.length > 0) await sessions.release(lost.map((run) => ({ key: run.sessionKey, holder: holderOf(run) })));
  const all: (AgentRun | NotClaimed)[] = results.map((one) => (typeof one === "string" ? one : "waiting"));
  for (const [turn, { i }] of ready.entries()) all[i] = claimed[turn] ?? "over";
  return all;
}

/** What holds a session while a run goes: a run that was begun anew is another one. */
export const holderOf = ({ _id, round }: Pick<RunDoc, "_id" | "round">): string => `${_id}-${round}`;

/** Says that a worker is still at it. @returns false when the run or its session is no longer this worker's */
export async function renewClaim(
  { runs, sessions }: Stores,
  run: RunDoc,
  token: string,
  until: Date,
): Promise<boolean> {
  const kept = await Promise.all([runs.renew(run._id, token, until), sessions.renew(run.sessionKey, token, until)]);
  return kept.every(Boolean);
}
