import type { AgentMessage, AgentRunner } from "../../agents/runners/runner.ts";
import type { TurnUsage } from "../../agents/runners/turnUsage.ts";
import { acquireRun, renewRun } from "../../models/runs/acquireRun.ts";
import type { AgentRun, AttemptReport, RunError } from "../../models/runs/run.ts";
import { trackRetry, trackStarted } from "../../models/runs/trackRun.ts";
import { hookContextOf } from "../../models/sessions/sessionOwners.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Finalize } from "../runs/finalize.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import { runTurn, type TurnOutcome } from "../runs/turn.ts";
import { turnMessages } from "../runs/turnMessages.ts";
import type { TurnShares } from "../runs/turnShares.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

const MAX_TRIES = 3;
/** Maximum `Retry-After` that is obeyed, because the later runs of the session wait too. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

export interface AgentHookDeps {
  readonly stores: Stores;
  readonly runner: AgentRunner;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly systemPrompt: string | undefined;
  /** The model for a run that names none, because no default was configured when the run was accepted. */
  readonly model: string | undefined;
  readonly finalize: Finalize;
  readonly metrics: WorkerMetrics;
  readonly turns: TurnShares;
  /** Returns the label of a model in metrics. */
  modelLabel(model: string | undefined): string;
  /** Returns the prompt of a run: its message, fenced unless the operator trusts the source. */
  prompt(run: AgentRun): string;
  /** Returns an earlier message of the session that came from outside, fenced. */
  earlier(run: AgentRun, message: string): string;
  /** Returns the environment variables for a program that executes the run. */
  env(run: AgentRun): Promise<Readonly<Record<string, string>>>;
  /** Enqueues the run again. `occasion` makes the id of this queue entry unique. */
  requeue(runId: string, occasion: string, delayMs: number): Promise<void>;
}

/**
 * Returns the processor that executes an agent run once its sender has a free turn and the run is the first of its session.
 * It acquires the run, runs one agent turn, stores how that ended and finalizes the run. The sweep continues a run that is
 * not finished here.
 */
export function agentHookProcessor(deps: AgentHookDeps): Processor {
  return async ({ payload }, context) => {
    const { runId } = payload as { runId: string };
    const sender = await deps.stores.runs.findSender(runId);
    if (sender === null) return { kind: "done", result: { run: "over" } };
    const release = await deps.turns.acquire(hookContextOf(sender), context.signal);
    if (typeof release === "number") return { kind: "delay", ms: release };
    try {
      return { kind: "done", result: { run: await executeRun(deps, runId, context) } };
    } finally {
      release();
    }
  };
}

/** Returns how the run ended, for the log. */
async function executeRun(deps: AgentHookDeps, runId: string, context: RunContext): Promise<string> {
  const { stores, metrics, finalize } = deps;
  const run = await acquireRun(stores, runId, context.clock, context.timings.lease.durationMs);
  if (run === "over") await finalize(runId); // the run may have been cancelled before it started
  if (typeof run === "string") return run;
  const began = performance.now();
  if (run.attempts === 1) {
    metrics.queuedSeconds.observe((run.startedAt.getTime() - run.createdAt.getTime()) / 1_000);
  }
  const report: { usage?: TurnUsage; stderr?: string } = {};
  const outcome = run.attempts > MAX_TRIES ? crashed() : await turn(deps, run, report, context);
  metrics.runs.inc({ outcome: outcome.kind, code: outcome.kind === "failed" ? outcome.error.code : "" });
  metrics.runSeconds.observe({ outcome: outcome.kind }, (performance.now() - began) / 1_000);
  const next = await retryWhileMongoIsDown(() => storeOutcome(deps, run, outcome, report, context), context);
  if (next === "requeued") return outcome.kind === "failed" ? "waits for another try" : outcome.kind;
  await retryWhileMongoIsDown(() => finalize(runId), context);
  return outcome.kind;
}

const TOO_LARGE: RunError = { code: "agent_failed", message: "The reply is too large to be kept with the request." };

/** The result of a run whose worker died in the last try. Earlier tries may have failed for other reasons. */
const crashed = (): TurnOutcome => ({
  kind: "failed",
  error: new AppError("agent_failed", { detail: `The worker process ended during the last of ${MAX_TRIES} attempts.` }),
});

async function turn(
  deps: AgentHookDeps,
  run: AgentRun,
  report: { usage?: TurnUsage; stderr?: string },
  context: RunContext,
): Promise<TurnOutcome> {
  const { stores, runner } = deps;
  const { timings } = context;
  const work = async (signal: AbortSignal) => {
    const messages = await retryWhileMongoIsDown(() => prepare(deps, run), { signal, timings });
    const env = await retryWhileMongoIsDown(() => deps.env(run), { signal, timings });
    const model = run.request.model ?? deps.model;
    const thinking = run.request.thinking ?? undefined;
    const onUsage = (usage: TurnUsage) => {
      report.usage = usage;
      deps.metrics.countUsage(usage, deps.modelLabel(model));
    };
    const onStderr = (text: string) => {
      report.stderr = text;
    };
    return runner.run({ kind: "run", messages, model, thinking, env, onUsage, onStderr }, signal);
  };
  const lease = {
    renew: (until: Date) => renewRun(stores, run, until),
    now: () => context.clock.now(),
  };
  const bounds = { timeoutMs: run.request.timeoutSeconds * 1_000, stopping: context.signal };
  return withLease(lease, timings.lease, (lost) => runTurn(work, { ...bounds, lost }));
}

/** Reports on the tracked job that the try has started and returns the messages for the agent. */
async function prepare(
  { stores, session, systemPrompt, prompt, earlier }: AgentHookDeps,
  run: AgentRun,
): Promise<AgentMessage[]> {
  await trackStarted(stores, run);
  const recent = await stores.messages.findRecent(run.sessionKey, session);
  // A message from outside is as untrusted in later turns as in its own.
  const history = recent.map(({ role, content, outside }) => ({
    role,
    content: outside ? earlier(run, content) : content,
  }));
  return turnMessages(systemPrompt, history, prompt(run));
}

/**
 * Stores how a turn ended: the end of the run, or that it waits for another try.
 * @returns "requeued" when this worker has enqueued the run again; "ended" also when the run was cancelled or another
 *   worker continues it
 */
async function storeOutcome(
  deps: AgentHookDeps,
  run: AgentRun,
  outcome: TurnOutcome,
  report: AttemptReport,
  { clock, timings }: RunContext,
): Promise<"requeued" | "ended"> {
  const { runs, sessions } = deps.stores;
  switch (outcome.kind) {
    case "stopped":
      await runs.release(run, report.usage);
      await sessions.release(run.sessionKey, run.claim.token);
      await deps.requeue(run._id, run.claim.token, 0);
      return "requeued";
    case "lost":
      return "ended";
    case "replied": {
      const { text: reply, isCutOff } = outcome.reply;
      const end = { kind: "completed", reply, ...(isCutOff && { replyCutOff: true }) } as const;
      await runs.end(run, end, report).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError && thrown.code === "body_too_large")) throw thrown;
        return runs.end(run, { kind: "failed", error: TOO_LARGE, attempts: run.attempts }, report);
      });
      return "ended";
    }
    case "failed": {
      const { code, message, quote } = outcome.error;
      const error = { code, message: quote === undefined ? message : `${message}\n${quote}` };
      if (outcome.error.retry && run.attempts < MAX_TRIES) {
        const retryAfterMs = Math.min((outcome.error.retryAfterSeconds ?? 0) * 1_000, MAX_RETRY_AFTER_MS);
        const delayMs = Math.max(timings.retry.runMs[run.attempts - 1] ?? 0, retryAfterMs);
        const isOurs = await runs.retryLater(run, new Date(clock.now().getTime() + delayMs), error, report);
        await sessions.release(run.sessionKey, run.claim.token);
        if (!isOurs) return "ended";
        await trackRetry(deps.stores, run, message);
        await deps.requeue(run._id, `try-${run.attempts + 1}`, delayMs);
        return "requeued";
      }
      await runs.end(run, { kind: "failed", error, attempts: Math.min(run.attempts, MAX_TRIES) }, report);
      return "ended";
    }
  }
}
