import type { OneJob } from "../../../models/jobs/jobScope.ts";
import { depthField } from "../../../models/notes/depth.ts";
import type { ReturnTo } from "../../../models/notes/returnTo.ts";
import { sessionExists } from "../../../models/runs/returnRuns.ts";
import type { Stores } from "../../../models/stores.ts";
import { AppError, invalidField } from "../../../shared/errors.ts";
import { MAIN_SESSION } from "../../../shared/sessionKey.ts";
import { OWN_SESSION, type ReturnToChange } from "../../../wire/runs/return.ts";
import { requireScope } from "../../auth/authorize.ts";
import type { Caller } from "../../auth/caller.ts";
import type { ApiDeps } from "../../deps.ts";
import { checkRecipient } from "../../recipient.ts";

type ReturnDeps = Pick<ApiDeps, "stores" | "initialReplyTarget">;
type ReturnStores = Pick<Stores, "runs" | "sessions">;

interface Context {
  readonly jobId: string;
  readonly authContext: Caller;
  /** `agents.returns.maxDepth`. */
  readonly maxReturns: number;
}

/**
 * Returns the session that a job wakes, as it is stored: the one that a caller names, or for the token of a run its own.
 * @throws AppError invalid_body, forbidden, return_limit, unavailable
 */
export async function resolveReturnTo(
  deps: ReturnDeps,
  given: ReturnToChange,
  { jobId, authContext, maxReturns }: Context,
): Promise<ReturnTo> {
  const target = typeof given === "string" ? { sessionKey: given } : given;
  const { on = ["completed", "failed"], deliver = false, channel = "last", to = null } = target;
  const { run } = authContext;
  const { stores } = deps;
  await checkRecipient(deps, channel, to, "returnTo/to");
  const session = run
    ? await ownSession(stores, target.sessionKey, run, maxReturns)
    : await namedSession(stores, target.sessionKey, jobId, authContext);
  return { ...session, on: [...on], deliver, channel, to };
}

/** Returns the session of the run whose token the caller has, and how many returns in a row have led to the run. */
async function ownSession(stores: ReturnStores, sessionKey: string, { jobId: runId }: OneJob, maxReturns: number) {
  const projection = { sessionKey: 1, chain: 1, depth: 1 } as const;
  const run = await stores.runs.collection.findOne({ _id: runId }, { projection });
  if (!run) throw invalidField("returnTo", "names the session of a run that was deleted");
  if (sessionKey !== OWN_SESSION && sessionKey !== run.sessionKey) {
    const detail = "returnTo must be self: the token of a run can only name the session of that run.";
    throw new AppError("forbidden", { detail });
  }
  const { chain = 0 } = run;
  if (chain >= maxReturns) {
    const detail = `This run follows from ${chain} returns in a row, the maximum (agents.returns.maxDepth). Create the job with returnTo: null.`;
    throw new AppError("return_limit", { detail });
  }
  return { sessionKey: run.sessionKey, ...(chain > 0 && { chain }), ...depthField(run.depth) };
}

/** Returns the session that a caller names who is no run. */
async function namedSession(stores: ReturnStores, sessionKey: string, jobId: string, caller: Caller) {
  requireScope(caller, "runs:write");
  if (sessionKey === OWN_SESSION) {
    throw invalidField("returnTo", "must name a session: self is for the token of a run");
  }
  if (sessionKey === MAIN_SESSION) {
    throw invalidField("returnTo", `must not be ${MAIN_SESSION}: a rule of notify with wake wakes the main session`);
  }
  const own = await stores.runs.collection.findOne({ _id: jobId }, { projection: { sessionKey: 1 } });
  if (own?.sessionKey === sessionKey) {
    throw invalidField("returnTo", "must not be the session of the run that the job shows");
  }
  if (!(await sessionExists(stores, sessionKey))) {
    throw invalidField("returnTo", "must name a session that exists: GET /api/sessions lists them");
  }
  return { sessionKey };
}
