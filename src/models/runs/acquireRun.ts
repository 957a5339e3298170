import { randomUUID } from "node:crypto";
import type { Clock } from "../../shared/clock.ts";
import { isHeld, type StoredLease } from "../db/lease.ts";
import type { SessionTurn } from "../sessions/session.ts";
import type { AgentRun, RunDoc } from "./run.ts";
import type { RunStores } from "./runStores.ts";

/**
 * Maximum wait of a session for its last run to be finalized, in durations of a lease. It leaves the sweep time to finalize
 * the run once MongoDB is back, so that the next run does not reply first. After that, a run that can never be finalized no
 * longer blocks its session.
 */
const FINALIZED_WITHIN_LEASES = 20;

/** Why a worker cannot acquire a run: `over` if it has ended or another worker holds it, `waiting` if it is not its turn yet. */
export type NotAcquired = "over" | "waiting";

/**
 * Acquires a run for one worker: the run itself, and its session, whose document names its active run. The runs of a session
 * go one at a time, in the order they were accepted. A run that has to wait is enqueued again by whoever finalizes the one
 * before it.
 * @returns the run under its lease
 * @throws AppError run_not_found, unavailable
 */
export async function acquireRun(
  { runs, sessions }: Pick<RunStores, "runs" | "sessions">,
  runId: string,
  clock: Clock,
  leaseMs: number,
): Promise<AgentRun | NotAcquired> {
  const run = await runs.find(runId);
  const now = clock.now();
  const reason = reasonAgainst(run, now);
  if (reason) return reason;
  const endedSince = new Date(now.getTime() - FINALIZED_WITHIN_LEASES * leaseMs);
  const [next, isFinalizing] = await Promise.all([
    runs.findNext(run.sessionKey),
    runs.isFinalizing(run.sessionKey, endedSince),
  ]);
  if (next?._id !== runId || isFinalizing) return "waiting";
  const lease: StoredLease = { token: randomUUID(), until: new Date(now.getTime() + leaseMs) };
  if (!(await sessions.acquire(turnOf(run), lease))) return "waiting";
  const acquired = await runs.acquire(run, lease);
  if (acquired) return acquired;
  await sessions.release(run.sessionKey, lease.token);
  return "over";
}

/** Returns why the record itself prevents that a worker acquires the run, or undefined if it does not. */
function reasonAgainst({ open, stage, status, lease, notBefore }: RunDoc, now: Date): NotAcquired | undefined {
  if (!open) return "over";
  if (status === "running" && isHeld(lease, now)) return "over";
  return stage === "mapping" || (notBefore && notBefore > now) ? "waiting" : undefined;
}

type TurnOfRun = Pick<RunDoc, "_id" | "sessionKey" | "round" | "request">;

/** Returns the turn for which a run holds its session. A run that was started again takes another turn. */
export const turnOf = ({ _id, sessionKey, round, request }: TurnOfRun): SessionTurn => ({
  key: sessionKey,
  agentId: request?.agentId,
  holder: `${_id}-${round}`,
});

/** Renews the lease of a run and its session. @returns false when either is no longer this worker's */
export async function renewRun(
  { runs, sessions }: Pick<RunStores, "runs" | "sessions">,
  { _id, sessionKey, lease: { token } }: AgentRun,
  until: Date,
): Promise<boolean> {
  const lease = { token, until };
  const kept = await Promise.all([runs.renew(_id, lease), sessions.renew(sessionKey, lease)]);
  return kept.every(Boolean);
}
