import type { AgentMessage, AgentRunner } from "../../agents/runners/runner.ts";
import { acquireRun, renewRun } from "../../models/runs/acquireRun.ts";
import type { AgentRun, RunError } from "../../models/runs/run.ts";
import { trackRetry, trackStarted } from "../../models/runs/trackRun.ts";
import { contextOf } from "../../models/sessions/sessionOwners.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Processor, RunContext } from "../run.ts";
import type { Finalize } from "../runs/finalize.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import { boundTurn, type TurnEnd } from "../runs/turn.ts";
import { turnMessages } from "../runs/turnMessages.ts";
import type { TurnShares } from "../runs/turnShares.ts";

const MAX_TRIES = 3;
/** However long a server wants to be left alone: the runs behind this one wait too. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

export interface AgentHookDeps {
  readonly stores: Stores;
  readonly runner: AgentRunner;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly systemPrompt: string | undefined;
  /** For a run that names none: there was no default one when it was accepted. */
  readonly model: string | undefined;
  readonly finalize: Finalize;
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

/**
 * Carries a run out, when its sender has a turn free and it is the turn of its session: acquires it, runs one agent turn,
 * writes how that ended and finalizes the run. A run that it cannot finish is left to the sweep.
 */
export function agentHookProcessor(deps: AgentHookDeps): Processor {
  return async ({ payload }, context) => {
    const { runId } = payload as { runId: string };
    const sender = await deps.stores.runs.findSender(runId);
    if (sender === null) return { kind: "done", result: { run: "over" } };
    const leave = await deps.turns.enter(contextOf(sender), context.signal);
    if (typeof leave === "number") return { kind: "delay", ms: leave };
    try {
      return { kind: "done", result: { run: await carryOut(deps, runId, context) } };
    } finally {
      leave();
    }
  };
}

/** @returns what became of the run, for the log */
async function carryOut(deps: AgentHookDeps, runId: string, context: RunContext): Promise<string> {
  const { stores, metrics, finalize } = deps;
  const run = await acquireRun(stores, runId, context.clock, context.timings.lease.durationMs);
  if (run === "over") await finalize(runId); // it may have been cancelled before it began
  if (typeof run === "string") return run;
  const began = performance.now();
  if (run.attempts === 1) {
    metrics.queuedSeconds.observe((run.startedAt.getTime() - run.createdAt.getTime()) / 1_000);
  }
  const end = run.attempts > MAX_TRIES ? crashed() : await turn(deps, run, context);
  metrics.runs.inc({ outcome: end.kind, code: end.kind === "failed" ? end.error.code : "" });
  metrics.runSeconds.observe({ outcome: end.kind }, (performance.now() - began) / 1_000);
  const next = await retryWhileMongoIsDown(() => conclude(deps, run, end, context), context);
  if (next === "requeued") return end.kind === "failed" ? "waits for another try" : end.kind;
  await retryWhileMongoIsDown(() => finalize(runId), context);
  return end.kind;
}

const TOO_LARGE: RunError = { code: "agent_failed", message: "The reply is too large to be kept with the request." };

/** The tries before may have failed otherwise: they all count alike. */
const crashed = (): TurnEnd => ({
  kind: "failed",
  error: new AppError("agent_failed", { detail: `The worker died in the last of ${MAX_TRIES} tries.` }),
});

async function turn(deps: AgentHookDeps, run: AgentRun, context: RunContext): Promise<TurnEnd> {
  const { stores, runner } = deps;
  const { timings } = context;
  const work = async (signal: AbortSignal) => {
    const messages = await retryWhileMongoIsDown(() => prepare(deps, run), { signal, timings });
    const model = run.request.model ?? deps.model;
    const thinking = run.request.thinking ?? undefined;
    return (await runner.run({ kind: "run", messages, model, thinking, env: deps.env(run) }, signal)).text;
  };
  const claim = {
    renew: (until: Date) => renewRun(stores, run, until),
    now: () => context.clock.now(),
  };
  const bounds = { timeoutMs: run.request.timeoutSeconds * 1_000, stopping: context.signal };
  return withLease(claim, timings.lease, (lost) => boundTurn(work, { ...bounds, lost }));
}

/** Shows that the try begins, and gathers what the agent is shown. */
async function prepare(
  { stores, session, systemPrompt, prompt, earlier }: AgentHookDeps,
  run: AgentRun,
): Promise<AgentMessage[]> {
  await trackStarted(stores, run);
  const recent = await stores.messages.findRecent(run.sessionKey, session);
  // What came from outside is as untrusted in a later turn as it was in its own.
  const history = recent.map(({ role, content, outside }) => ({
    role,
    content: outside ? earlier(run, content) : content,
  }));
  return turnMessages(systemPrompt, history, prompt(run));
}

/**
 * Writes how a turn ended: the end of the run, or that it waits for another try.
 * @returns "ended" also where the run may have been ended by a cancellation, or may go on with another worker
 */
async function conclude(
  deps: AgentHookDeps,
  run: AgentRun,
  end: TurnEnd,
  { clock, timings }: RunContext,
): Promise<"requeued" | "ended"> {
  const { runs, sessions } = deps.stores;
  switch (end.kind) {
    case "stopped":
      await runs.handBack(run);
      await sessions.release(run.sessionKey, run.claim.token);
      await deps.requeue(run._id, run.claim.token, 0);
      return "requeued";
    case "lost":
      return "ended";
    case "replied":
      await runs.end(run, { status: "completed", reply: end.reply }).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError && thrown.code === "body_too_large")) throw thrown;
        return runs.end(run, { status: "failed", error: TOO_LARGE, attempts: run.attempts });
      });
      return "ended";
    case "failed": {
      const error = { code: end.error.code, message: end.error.message };
      if (end.error.retry && run.attempts < MAX_TRIES) {
        const asked = Math.min((end.error.retryAfterSeconds ?? 0) * 1_000, MAX_RETRY_AFTER_MS);
        const delayMs = Math.max(timings.retry.runMs[run.attempts - 1] ?? 0, asked);
        const isOurs = await runs.retryLater(run, new Date(clock.now().getTime() + delayMs), error);
        await sessions.release(run.sessionKey, run.claim.token);
        if (!isOurs) return "ended";
        await trackRetry(deps.stores, run, end.error.message);
        await deps.requeue(run._id, `try-${run.attempts + 1}`, delayMs);
        return "requeued";
      }
      await runs.end(run, { status: "failed", error, attempts: Math.min(run.attempts, MAX_TRIES) });
      return "ended";
    }
  }
}
