import { guard } from "../guard.ts";
import type { AgentRun, RunDoc } from "../run.ts";
import type { Stores } from "../stores.ts";

/** Why a worker does not get a run: it is over or somebody else's; or others of its session come first. */
export type NotClaimed = "over" | "waiting";

/**
 * Takes a run for a worker, when it is the turn of its session: one session's runs go one at a time, in the order they
 * were accepted. A run that has to wait is put on the queue again by whoever ends the one before.
 */
export async function claimRun(
  { runs, sessions }: Stores,
  runId: string,
  token: string,
  until: Date,
  now: Date,
): Promise<AgentRun | NotClaimed> {
  const run = await guard(() => runs.collection.findOne({ _id: runId }));
  if (!run?.open) return "over";
  if (run.stage === "mapping") return "waiting";
  if (run.status === "running" && run.claim && run.claim.until > now) return "over";
  if (run.notBefore && run.notBefore > now) return "waiting";
  const next = await runs.findNext(run.sessionKey);
  if (next?._id !== runId) return "waiting";
  if (!(await sessions.claim(run.sessionKey, holderOf(run), token, until))) return "waiting";
  const claimed = await runs.claim(runId, token, until);
  if (claimed) return claimed;
  await sessions.release(run.sessionKey, holderOf(run));
  return "over";
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
