import { randomUUID } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { randomSessionKey } from "../../shared/sessionKey.ts";
import type { WaitsFor } from "../../wire/runs/run.ts";
import { isHeld } from "../db/lease.ts";
import type { NewRun } from "./acceptance.ts";
import { MAIL_RUN, type RunDoc } from "./run.ts";
import type { RunStores } from "./runStores.ts";
import { trackAccepted } from "./trackRun.ts";

/**
 * Stores a new run with the request of a run that has ended, and creates its job if the request says so. The caller puts it on
 * its queue. A run that failed in its mapping is mapped again.
 * @returns the new run
 * @throws AppError run_not_found, run_state_conflict, unavailable
 */
export async function runAgain(stores: Pick<RunStores, "runs" | "jobs">, runId: string): Promise<NewRun> {
  const run = await stores.runs.find(runId);
  const reason = reasonAgainst(run);
  if (reason !== null) throw new AppError("run_state_conflict", { detail: reason });
  const { kind, name, singleUse, mapped, request, callbackUrl, returnOf, chain } = run;
  const again: NewRun = {
    _id: newIdLike(runId),
    kind,
    name,
    singleUse,
    mapped,
    request,
    callbackUrl,
    againOf: runId,
    sessionKey: singleUse && kind === "agent" ? randomSessionKey() : run.sessionKey,
    ...(returnOf && { returnOf }),
    ...(chain !== undefined && { chain }),
  };
  await stores.runs.accept([again]);
  await trackAccepted(stores, again);
  return again;
}

function reasonAgainst({ open, kind, mapped, request }: RunDoc): string | null {
  if (open) return "The run has not ended: wait for its end, or cancel it.";
  if (kind !== "agent" && kind !== "return")
    return "Only a run of the agent can run again, not an event of the main session.";
  return request || mapped?.call || mapped?.item ? null : "The request of the run is no longer stored.";
}

/**
 * Returns a random id. It has the version of the given one, because the ids of mails' runs decide which sessions they may
 * use.
 */
function newIdLike(runId: string): string {
  const id = randomUUID();
  return MAIL_RUN.test(runId) ? `${id.slice(0, 14)}8${id.slice(15)}` : id;
}

/** Reads what a run waits for. @returns undefined if the run is neither queued nor waiting @throws AppError run_not_found, unavailable */
export async function readWaitsFor(
  { runs, sessions }: Pick<RunStores, "runs" | "sessions">,
  runId: string,
  now: Date,
): Promise<WaitsFor | undefined> {
  const { status, stage, sessionKey, notBefore, awaits } = await runs.find(runId);
  const nothing = { runId: null, notBefore: null };
  if (status === "waiting") return { ...nothing, kind: "answer", runId: awaits?.jobId ?? null };
  if (status !== "queued") return undefined;
  if (stage === "mapping") return { ...nothing, kind: "worker" };
  const next = await runs.findNext(sessionKey);
  if (next && next._id !== runId) return { ...nothing, kind: "run", runId: next._id };
  if (notBefore && notBefore > now) return { ...nothing, kind: "time", notBefore: notBefore.toISOString() };
  const session = await sessions.collection.findOne({ _id: sessionKey }, { projection: { active: 1 } });
  return { ...nothing, kind: isHeld(session?.active ?? null, now) ? "session" : "worker" };
}
