import { isHeld } from "../db/lease.ts";
import type { RunStores } from "./runStores.ts";

/**
 * Why a queued run has not started: `run`, an earlier run of its session; `session`, another turn in its session; `time`, the
 * pause after a failed attempt; `worker`, a worker with a free place.
 */
export interface WaitsForView {
  kind: "run" | "session" | "time" | "worker";
  /** The earliest run of the session that has not ended; null for other kinds. */
  runId: string | null;
  /** The earliest time of the next attempt; null for other kinds. */
  notBefore: string | null;
}

/** Reads what a run waits for. @returns undefined if the run is not queued @throws AppError run_not_found, unavailable */
export async function readWaitsFor(
  { runs, sessions }: Pick<RunStores, "runs" | "sessions">,
  runId: string,
  now: Date,
): Promise<WaitsForView | undefined> {
  const { status, stage, sessionKey, notBefore } = await runs.find(runId);
  const nothing = { runId: null, notBefore: null };
  if (status !== "queued") return undefined;
  if (stage === "mapping") return { ...nothing, kind: "worker" };
  const next = await runs.findNext(sessionKey);
  if (next && next._id !== runId) return { ...nothing, kind: "run", runId: next._id };
  if (notBefore && notBefore > now) return { ...nothing, kind: "time", notBefore: notBefore.toISOString() };
  const session = await sessions.collection.findOne({ _id: sessionKey }, { projection: { active: 1 } });
  return { ...nothing, kind: isHeld(session?.active ?? null, now) ? "session" : "worker" };
}
