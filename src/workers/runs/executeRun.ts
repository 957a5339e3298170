import { isWorthDelivering } from "../../agents/prompt/acknowledgement.ts";
import { agentPrompt } from "../../agents/prompt/agentPrompt.ts";
import type { AgentMessage, AgentReply, TurnEvent } from "../../agents/runners/runner.ts";
import type { TurnUsage } from "../../agents/runners/turnUsage.ts";
import type { AgentSettings, Agents } from "../../config/agents/agents.ts";
import type { DeliverySettings } from "../../models/deliveries/addDelivery.ts";
import type { JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import { acquireRun, renewRun } from "../../models/runs/acquireRun.ts";
import { finalizeRun } from "../../models/runs/finalizeRun.ts";
import type { AgentRun, AttemptReport, RunError } from "../../models/runs/run.ts";
import { trackRetry, trackStarted } from "../../models/runs/trackRun.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import { agentHook } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { RunEventsDeps } from "../../shared/queue/runEvents.ts";
import { enqueueDelivery } from "../deliveries/enqueueDelivery.ts";
import { modelLabel, type WorkerMetrics } from "../metrics.ts";
import type { RunContext } from "../runWorkers.ts";
import type { AgentTable } from "./agentTable.ts";
import { type BudgetVerdict, type RunBudgets, resumeRuns } from "./budgets.ts";
import { BudgetWatch } from "./budgetWatch.ts";
import { reportingEnv, traceEnv } from "./reportingEnv.ts";
import { retryWhileMongoIsDown } from "./retryWhileMongoIsDown.ts";
import { RunProgress } from "./runProgress.ts";
import { runTurn, type TurnOutcome } from "./turn.ts";
import { turnMessages } from "./turnMessages.ts";

/** Maximum attempts of a run in one round, with those whose worker died. */
const MAX_ATTEMPTS = 3;
/** Maximum `Retry-After` that is obeyed, because the later runs of the session wait too. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;
/** The origin of a message whose run has no name, in the notice of its fence. */
const UNNAMED = "agent hook";

const TOO_LARGE: RunError = { code: "agent_failed", message: "The reply is too large to be kept with the request." };

/** The resources that finalizing a run needs. */
export interface FinalizeDeps {
  readonly stores: Stores;
  readonly queues: Pick<Queues, "add" | "deliver" | "triggerHeartbeat">;
  readonly metrics: WorkerMetrics;
  readonly delivery: DeliverySettings;
  readonly budgets: RunBudgets;
}

export interface ExecuteRunDeps extends FinalizeDeps {
  readonly agents: AgentTable;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly jobTokens: JobTokens;
  /** The address of the service, for programs that report on the job of their run. */
  readonly url: string;
  readonly runEvents: RunEventsDeps;
  /** `agents.showTools`. */
  readonly showTools: Agents["showTools"];
}

/**
 * Executes an agent run that is queued: acquires the lease on it and on its session, runs one agent turn, stores how that
 * ended, and finalizes the run. The sweep continues a run that is not finished here; every part may therefore run twice.
 * @returns the end of the run, or the reason why it waits, for the log
 */
export async function executeRun(deps: ExecuteRunDeps, runId: string, context: RunContext): Promise<string> {
  const { stores, metrics } = deps;
  const run = await acquireRun(stores, runId, context.clock, context.timings.lease.durationMs);
  if (run === "over") await finalize(deps, runId); // the run may have been cancelled before it started
  if (typeof run === "string") return run;
  const began = performance.now();
  if (run.isFirstStart) {
    metrics.queuedSeconds.observe((run.startedAt.getTime() - run.createdAt.getTime()) / 1_000);
  }
  // Acquiring counts the attempt: beyond the maximum, the worker of the last one has died.
  const mayTry = run.attempts <= MAX_ATTEMPTS;
  const verdict = mayTry ? await retryWhileMongoIsDown(() => deps.budgets.check(run), context) : null;
  if (verdict?.kind === "wait" && (await retryWhileMongoIsDown(() => wait(deps, run, verdict.awaits), context))) {
    return "waits for an answer";
  }
  const report: TurnReport = {};
  const outcome = verdict ? await turnWithin(deps, run, { verdict, report }, context) : crashed();
  metrics.runs.inc({ outcome: outcome.kind, code: outcome.kind === "failed" ? outcome.error.code : "" });
  metrics.runSeconds.observe({ outcome: outcome.kind }, (performance.now() - began) / 1_000);
  const next = await retryWhileMongoIsDown(() => storeOutcome(deps, run, outcome, report, context), context);
  if (next === "requeued") {
    await retryWhileMongoIsDown(() => deps.budgets.count(runId), context);
    return outcome.kind === "failed" ? "waits for another attempt" : outcome.kind;
  }
  await retryWhileMongoIsDown(() => finalize(deps, runId), context);
  return outcome.kind;
}

/** Lets a run wait for the answer to a gate. @returns false if the worker no longer holds it: it was cancelled */
async function wait(deps: ExecuteRunDeps, run: AgentRun, awaits: NonNullable<AgentRun["awaits"]>): Promise<boolean> {
  const { runs, sessions, gates } = deps.stores;
  const isWaiting = await runs.wait(run, awaits);
  await sessions.release(run.sessionKey, run.lease.token);
  // The answer may have come before the run waited for it.
  if ((await gates.findById(awaits.gateId))?.status !== "open") await resumeRuns(deps, awaits.gateId);
  return isWaiting;
}

/** Runs the turn if its budgets allow it, and measures its time if there are any. */
async function turnWithin(
  deps: ExecuteRunDeps,
  run: AgentRun,
  { verdict, report }: { readonly verdict: BudgetVerdict; readonly report: TurnReport },
  context: RunContext,
): Promise<TurnOutcome> {
  if (verdict.kind === "wait") return { kind: "lost" }; // The run was cancelled before it could wait.
  if (verdict.kind === "refuse") return { kind: "failed", error: verdict.error };
  const began = performance.now();
  const outcome = await turnUnderLease(deps, run, report, context);
  if (deps.budgets.areSet) report.ms = performance.now() - began;
  return outcome;
}

/**
 * The usage, texts and time of a turn. The callbacks of the runner set the usage and standard error while the turn runs, so that an
 * attempt which ends early keeps them.
 */
type TurnReport = { -readonly [K in keyof AttemptReport]: AttemptReport[K] } & {
  /** The text that the agent has written, for an end by a budget. */
  text?: string | null;
};

/** The result of a run whose worker died in the last attempt. Earlier attempts may have failed for other reasons. */
const crashed = (): TurnOutcome => ({
  kind: "failed",
  error: new AppError("agent_failed", {
    detail: `The worker process ended during the last of ${MAX_ATTEMPTS} attempts.`,
  }),
});

/** Runs the turn while the lease is renewed. The turn ends when the lease is lost. */
function turnUnderLease(
  deps: ExecuteRunDeps,
  run: AgentRun,
  report: TurnReport,
  context: RunContext,
): Promise<TurnOutcome> {
  const lease = {
    renew: (until: Date) => renewRun(deps.stores, run, until),
    now: () => context.clock.now(),
  };
  const bounds = { timeoutMs: run.request.timeoutSeconds * 1_000, stopping: context.signal };
  const work = (signal: AbortSignal, stop: (error: AppError) => void) =>
    turn(deps, run, { report, stop }, { ...context, signal });
  return withLease(lease, context.timings.lease, (lost) => runTurn(work, { ...bounds, lost }));
}

/** Prepares the turn and runs it. */
async function turn(
  deps: ExecuteRunDeps,
  run: AgentRun,
  { report, stop }: { readonly report: TurnReport; readonly stop: (error: AppError) => void },
  context: RunContext,
): Promise<AgentReply> {
  const { stores, agents, metrics } = deps;
  const { runner, settings } = agents.of(run.request.agentId);
  const { model = settings.model, thinking } = withoutNulls(run);
  const messages = await retryWhileMongoIsDown(async () => {
    await trackStarted(stores, run);
    return readMessages(deps, run, settings);
  }, context);
  const env = await retryWhileMongoIsDown(
    async () => ({ ...(await reportingEnv(run, deps.jobTokens, deps.url)), ...(await traceEnv(stores, run)) }),
    context,
  );
  const progress = new RunProgress(deps, run);
  const onUsage = (usage: TurnUsage) => {
    report.usage = usage;
    progress.onUsage(usage);
    metrics.countUsage(usage, modelLabel(settings, model));
  };
  const onStderr = (text: string) => {
    report.stderr = text;
  };
  const watch = new BudgetWatch(deps.budgets, run, stop);
  const onEvent = (event: TurnEvent) => {
    if (event.type === "usage") report.usage = event.usage; // if the attempt ends without its sum
    progress.onEvent(event);
    watch.onEvent(event);
  };
  try {
    return await runner.run(
      { kind: "run", messages, model, thinking, env, onUsage, onStderr, onEvent },
      context.signal,
    );
  } finally {
    report.text = watch.text;
    await Promise.all([progress.close(), watch.close()]);
  }
}

const withoutNulls = ({ request: { model, thinking } }: AgentRun) => ({
  model: model ?? undefined,
  thinking: thinking ?? undefined,
});

/** Returns the messages for the agent: the conversation so far, and the prompt of the run. */
async function readMessages(
  { stores, session }: ExecuteRunDeps,
  run: AgentRun,
  { systemPrompt }: AgentSettings,
): Promise<AgentMessage[]> {
  const { message, instructions, allowUnsafe = false } = run.request;
  const source = run.name ?? UNNAMED;
  const recent = await stores.messages.findRecent(run.sessionKey, session);
  // A message from outside is as untrusted in later turns as in its own.
  const history = recent.map(({ role, content, outside, returned }) => ({
    role,
    content: outside
      ? agentPrompt({ message: content, source, instructions: returned?.sentence, allowUnsafe: false })
      : content,
  }));
  return turnMessages(systemPrompt, history, agentPrompt({ message, source, instructions, allowUnsafe }));
}

/**
 * Stores how a turn ended: the end of the run, or that it waits for another attempt.
 * @returns "requeued" when this worker has enqueued the run again; "ended" also when the run was cancelled or another
 *   worker continues it
 */
async function storeOutcome(
  deps: ExecuteRunDeps,
  run: AgentRun,
  outcome: TurnOutcome,
  report: TurnReport,
  { clock, timings }: RunContext,
): Promise<"requeued" | "ended"> {
  const { runs, sessions } = deps.stores;
  // The occasion makes the id of this queue entry unique.
  const requeue = (occasion: string, delayMs: number) =>
    deps.queues.add(agentHook, { runId: run._id }, { jobId: `${run._id}-${occasion}`, delayMs });
  switch (outcome.kind) {
    case "stopped":
      await runs.release(run, report);
      await sessions.release(run.sessionKey, run.lease.token);
      await requeue(run.lease.token, 0);
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
      if (outcome.error.retry && run.attempts < MAX_ATTEMPTS) {
        const retryAfterMs = Math.min((outcome.error.retryAfterSeconds ?? 0) * 1_000, MAX_RETRY_AFTER_MS);
        const delayMs = Math.max(timings.retry.runMs[run.attempts - 1] ?? 0, retryAfterMs);
        const isOurs = await runs.retryLater(run, new Date(clock.now().getTime() + delayMs), error, report);
        await sessions.release(run.sessionKey, run.lease.token);
        if (!isOurs) return "ended";
        await trackRetry(deps.stores, run, message);
        await requeue(`try-${run.attempts + 1}`, delayMs);
        return "requeued";
      }
      const reply = code === "budget_exceeded" && { reply: report.text ?? null };
      await runs.end(run, { kind: "failed", error, attempts: attemptsMade(run, code, report), ...reply }, report);
      return "ended";
    }
  }
}

/** Returns the attempts that a failed run has made, without one that a budget refused or that only found a dead worker. */
function attemptsMade({ attempts }: AgentRun, code: RunError["code"], { ms }: TurnReport): number {
  const isRefused = code === "budget_exceeded" && ms === undefined; // with budgets, each turn that begins is measured
  return Math.min(isRefused ? attempts - 1 : attempts, MAX_ATTEMPTS);
}

/** Finalizes a run, then enqueues what follows from its end. Ignores a run that has not ended or is already finalized. */
export async function finalize(deps: FinalizeDeps, runId: string): Promise<void> {
  const { stores, queues, delivery: settings } = deps;
  await deps.budgets.count(runId); // first, because the sweep returns to a run only until it is finalized
  const run = await stores.runs.findUnfinalized(runId);
  if (!run) return;
  const { nextRunId, delivery, wake } = await finalizeRun(stores, run, { ...settings, isWorthDelivering });
  // The job id names this end, because the next run's own job may be leaving the queue at this moment.
  if (nextRunId) {
    await queues.add(agentHook, { runId: nextRunId }, { jobId: `${nextRunId}-after-${runId}-${run.round}` });
  }
  if (delivery) await enqueueDelivery(deps, delivery);
  if (wake) await queues.triggerHeartbeat();
}
