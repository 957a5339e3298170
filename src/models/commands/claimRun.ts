import { randomUUID } from "node:crypto";
import { type AgentRun, hasSessionAlone, type RunClaim, type RunDoc } from "../run.ts";
import { findUnsettledSessions, type RunInSession } from "../runsTogether.ts";
import type { SessionTurn } from "../session.ts";
import type { Stores } from "../stores.ts";

/**
 * How many leases long a session waits for what follows from the end of its last run. The sweep writes it as soon as MongoDB
 * is back; a next run that began before would answer first. A run of which it can never be written holds its session up no
 * longer.
 */
const FINALIZED_WITHIN_LEASES = 20;

/** Why a worker does not get a run: it is over or somebody else's; or others of its session come first. */
export type NotClaimed = "over" | "waiting";

/**
 * Takes runs for one worker, where it is the turn of their sessions: one session's runs go one at a time, in the order they
 * were accepted. A run that has to wait is put on the queue again by whoever ends the one before.
 * @returns each as it is now, with its claim; one that is asked for twice is taken once
 * @throws AppError unavailable
 */
export async function claimRuns(
  { runs, sessions }: Pick<Stores, "runs" | "sessions">,
  runIds: readonly string[],
  now: Date,
  leaseMs: number,
): Promise<(AgentRun | NotClaimed)[]> {
  const claim = { token: randomUUID(), until: new Date(now.getTime() + leaseMs) };
  const found = await runs.findInSessions(runIds);
  const lastPlaces = new Map(runIds.map((runId, i) => [runId, i]));
  const results = found.map((one, i): RunDoc | NotClaimed => {
    if (lastPlaces.get(runIds[i]!) !== i) return "waiting";
    return one ? judged(one, now) : "over";
  });
  const next = results.filter((run) => typeof run !== "string");
  const shared = next.filter((run) => !hasSessionAlone(run));
  const ready = [
    ...next.filter(hasSessionAlone),
    ...(await takeSessions(
      { runs, sessions },
      shared,
      claim,
      new Date(now.getTime() - FINALIZED_WITHIN_LEASES * leaseMs),
    )),
  ];
  const claimed = await runs.claimEach(ready, claim);
  const all = new Map(ready.map(({ _id }, i) => [_id, claimed[i] ?? ("over" as const)]));
  await sessions.release(shared.filter(({ _id }) => all.get(_id) === "over").map(turnOf)); // the others hold none
  return results.map((run) => (typeof run === "string" ? run : (all.get(run._id) ?? "waiting")));
}

/** The run, where nothing that is known of it speaks against its being taken. */
function judged({ run, nextRunId }: RunInSession, now: Date): RunDoc | NotClaimed {
  const { open, stage, status, claim, notBefore } = run;
  if (!open) return "over";
  if (stage === "mapping") return "waiting";
  if (status === "running" && claim && claim.until > now) return "over";
  if ((notBefore && notBefore > now) || nextRunId !== run._id) return "waiting";
  return run;
}

/** Takes the sessions of runs that others may have too. @returns the runs whose sessions were free */
async function takeSessions(
  { runs, sessions }: Pick<Stores, "runs" | "sessions">,
  shared: readonly RunDoc[],
  claim: RunClaim,
  endedBefore: Date,
): Promise<RunDoc[]> {
  const keys = shared.map(({ sessionKey }) => sessionKey);
  const unsettled = await findUnsettledSessions(runs.collection, keys, endedBefore);
  const free = shared.filter(({ sessionKey }) => !unsettled.has(sessionKey));
  const isTaken = await sessions.claimEach(free.map((run) => ({ ...turnOf(run), ...claim })));
  return free.filter((_, i) => isTaken[i]);
}

/** What a run has its session for; one that was begun anew is another turn. */
export const turnOf = ({ _id, sessionKey, round }: Pick<RunDoc, "_id" | "sessionKey" | "round">): SessionTurn => ({
  key: sessionKey,
  holder: `${_id}-${round}`,
});

/** Says that a worker is still at it. @returns false when the run or its session is no longer this worker's */
export async function renewClaim({ runs, sessions }: Stores, run: AgentRun, until: Date): Promise<boolean> {
  const { token } = run.claim;
  if (!hasSessionAlone(run)) {
    const kept = await Promise.all([runs.renew(run._id, token, until), sessions.renew(run.sessionKey, token, until)]);
    return kept.every(Boolean);
  }
  const isKept = await runs.renew(run._id, token, until);
  // A turn that takes its time is shown to have its session. A try before, whose worker has died, may still be shown there.
  const { key, holder } = turnOf(run);
  if (isKept) await sessions.claim(key, holder, token, until);
  return isKept;
}
