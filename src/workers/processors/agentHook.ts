import type { AgentMessage, AgentRunner } from "../../agents/runner.ts";
import { renewClaim } from "../../models/commands/claimRun.ts";
import { contextOf } from "../../models/commands/sessionOwners.ts";
import { trackRetry, trackStarted } from "../../models/commands/trackRun.ts";
import { type AgentRun, hasSessionAlone, type RunDoc, type RunError } from "../../models/run.ts";
import type { Stores } from "../../models/stores.ts";
import { underClaim } from "../../shared/claim.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { conversation } from "../conversation.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Outcome } from "../outcome.ts";
import { persist } from "../persist.ts";
import type { Processor, RunContext } from "../run.ts";
import { logUnsettled, type Settle } from "../settle.ts";
import { boundTurn, type TurnEnd } from "../turn.ts";
import type { TurnShares } from "../turnShares.ts";

const MOST_TRIES = 3;
/** However long a server wants to be left alone: the runs behind this one wait too. */
const MOST_RETRY_AFTER_MS = 15 * 60_000;

export interface AgentHookDeps {
  readonly stores: Stores;
  readonly runner: AgentRunner;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly systemPrompt: string | undefined;
  /** For a run that names none: there was no default one when it was accepted. */
  readonly model: string | undefined;
  readonly settle: Settle;
  readonly metrics: WorkerMetrics;
  readonly turns: TurnShares;
  /** What a run tells the agent: its message, fenced in unless the operator vouches for it. */
  prompt(run: AgentRun): string;
  /** An earlier message of the run's session, fenced in, since it came from outside. */
  earlier(run: AgentRun, message: string): string;
  /** What a program that carries the run out finds in its environment. */
  env(run: AgentRun): Readonly<Record<string, string>>;
  /** Puts the run on its queue again; `occasion` tells one time from another. */
  requeue(runId: string, occasion: string, delayMs: number): Promise<void>;
}

/** One agent turn for a run whose turn it is; then everything that follows from its end. */
export function agentHookProcessor(deps: AgentHookDeps): Processor {
  return async ({ payload }, context) => {
    const { runId } = payload as { runId: string };
    const sender = await deps.stores.runs.findSender(runId);
    if (sender === null) return { kind: "done", result: { run: "over" } };
    const leave = await deps.turns.enter(contextOf(sender), context.signal);
    if (typeof leave === "number") return { kind: "later", ms: leave };
    try {
      return await takeTurn(deps, runId, context);
    } finally {
      leave();
    }
  };
}

async function takeTurn(deps: AgentHookDeps, runId: string, context: RunContext): Promise<Outcome> {
  const run = await deps.stores.claims.add(runId);
  if (run === "over") await deps.settle(runId); // cancelled before it began
  if (typeof run === "string") return { kind: "done", result: { run } };
  const began = performance.now();
  if (run.attempts === 1) {
    deps.metrics.queuedSeconds.observe((run.startedAt.getTime() - run.createdAt.getTime()) / 1_000);
  }
  const end = run.attempts > MOST_TRIES ? crashed() : await turn(deps, run, context);
  deps.metrics.runs.inc({ outcome: end.kind, code: end.kind === "failed" ? end.error.code : "" });
  deps.metrics.runSeconds.observe({ outcome: end.kind }, (performance.now() - began) / 1_000);
  const how = isTriedAgain(run, end) ? "waits for another try" : end.kind;
  return { kind: "done", result: { run: how }, rest: finish(deps, run, end, context) };
}

/** Writes how the turn ended, and what follows from that. A run of which that cannot be written is tried again. */
async function finish(deps: AgentHookDeps, run: AgentRun, end: TurnEnd, context: RunContext): Promise<void> {
  const { log } = context;
  try {
    const ended = await persist(() => conclude(deps, run, end, context), context);
    if (ended !== null) await seeThrough(deps, run._id, ended, context);
  } catch (error) {
    const { code } = toAppError(error);
    log.error({ run: run._id, code, err: error }, "how a turn ended cannot be written; the run is tried again");
  }
}

/** Writes what follows from the run's end; what cannot be written now is left to the sweep. */
async function seeThrough(
  { settle }: AgentHookDeps,
  runId: string,
  ended: RunDoc | undefined,
  context: RunContext,
): Promise<void> {
  try {
    await persist(() => settle(runId, ended), context);
  } catch (error) {
    if (toAppError(error).code !== "unavailable") logUnsettled(context.log, runId, error);
  }
}

const TOO_LARGE: RunError = { code: "agent_failed", message: "The reply is too large to be kept with the request." };

/** The tries before may have failed otherwise: they all count alike. */
const crashed = (): TurnEnd => ({
  kind: "failed",
  error: new AppError("agent_failed", { detail: `The worker died in the last of ${MOST_TRIES} tries.` }),
});

async function turn(deps: AgentHookDeps, run: AgentRun, context: RunContext): Promise<TurnEnd> {
  const { stores, runner } = deps;
  const { timings } = context;
  const work = async (signal: AbortSignal) => {
    const messages = await persist(() => prepare(deps, run), { signal, timings });
    const model = run.request.model ?? deps.model;
    const thinking = run.request.thinking ?? undefined;
    return (await runner.run({ kind: "run", messages, model, thinking, env: deps.env(run) }, signal)).text;
  };
  const claim = {
    renew: (until: Date) => renewClaim(stores, run, until),
    now: () => context.clock.now(),
  };
  const bounds = { timeoutMs: run.request.timeoutSeconds * 1_000, stopping: context.signal };
  return underClaim(claim, timings.lease, (lost) => boundTurn(work, { ...bounds, lost }));
}

/** Shows that the try begins, and gathers what the agent is shown. */
async function prepare(
  { stores, session, systemPrompt, prompt, earlier }: AgentHookDeps,
  run: AgentRun,
): Promise<AgentMessage[]> {
  await trackStarted(stores, run);
  // In a session that was made for this run nothing has been said before it ends for the first time.
  const recent = hasSessionAlone(run) ? [] : await stores.messages.findRecent(run.sessionKey, session);
  // What came from outside is as untrusted in a later turn as it was in its own.
  const history = recent.map(({ role, content, outside }) => ({
    role,
    content: outside ? earlier(run, content) : content,
  }));
  return conversation(systemPrompt, history, prompt(run));
}

/** @returns the run that has ended; null where nothing follows, undefined where that is to be looked up */
async function conclude(
  deps: AgentHookDeps,
  run: AgentRun,
  end: TurnEnd,
  { clock, timings }: RunContext,
): Promise<RunDoc | null | undefined> {
  const { runs, sessions } = deps.stores;
  const { token } = run.claim;
  switch (end.kind) {
    case "stopped":
      await runs.handBack(run._id, token);
      await sessions.releaseOwn(run.sessionKey, token);
      await deps.requeue(run._id, token, 0);
      return null;
    case "lost": // cancelled while it ran; taken over by another worker otherwise
      return undefined;
    case "replied":
      return runs.end(run, { status: "completed", reply: end.reply }).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError && thrown.code === "body_too_large")) throw thrown;
        return runs.end(run, { status: "failed", error: TOO_LARGE, attempts: run.attempts });
      });
    case "failed": {
      const error = { code: end.error.code, message: end.error.message };
      if (isTriedAgain(run, end)) {
        const asked = Math.min((end.error.retryAfterSeconds ?? 0) * 1_000, MOST_RETRY_AFTER_MS);
        const delayMs = Math.max(timings.retry.runMs[run.attempts - 1] ?? 0, asked);
        const isOurs = await runs.retryLater(run._id, token, new Date(clock.now().getTime() + delayMs), error);
        await sessions.releaseOwn(run.sessionKey, token);
        if (!isOurs) return undefined; // another worker has taken it over meanwhile
        await trackRetry(deps.stores, run, end.error.message);
        await deps.requeue(run._id, `try-${run.attempts + 1}`, delayMs);
        return null;
      }
      return runs.end(run, { status: "failed", error, attempts: Math.min(run.attempts, MOST_TRIES) });
    }
  }
}

const isTriedAgain = ({ attempts }: AgentRun, end: TurnEnd): boolean =>
  end.kind === "failed" && end.error.retry && attempts < MOST_TRIES;
