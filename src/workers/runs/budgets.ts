import { createHash } from "node:crypto";
import { type Budget, FIGURES, periodOf } from "../../config/agents/budget.ts";
import type { BudgetDoc, Spent } from "../../models/budgets/budget.ts";
import { stateKey } from "../../models/budgets/readBudgets.ts";
import { BY_BUDGET, type GateDoc } from "../../models/gates/gate.ts";
import { findGateJob } from "../../models/gates/readGates.ts";
import { listAwaitedGates } from "../../models/runs/dueRuns.ts";
import type { RunDoc } from "../../models/runs/run.ts";
import { trackAccepted } from "../../models/runs/trackRun.ts";
import { markCounted, spentOf, type Tried } from "../../models/runs/usage/spending.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { agentHook } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";

/** How long a question about a budget waits for its answer: over a weekend. */
const ANSWER_WITHIN_MS = 3 * 86_400_000;
/** Maximum questions that one run asks: an open gate has one key, and a closed one keeps it. */
const MAX_QUESTIONS = 100;

/** The decision about a run at a boundary. */
export type BudgetVerdict =
  | { readonly kind: "go" }
  | { readonly kind: "wait"; readonly awaits: NonNullable<RunDoc["awaits"]> }
  | { readonly kind: "refuse"; readonly error: AppError };

/** The budgets of a configuration, which runs are checked against before each turn. */
export class RunBudgets {
  readonly #budgets: readonly Budget[];
  readonly #timezone: string;
  readonly #stores: Stores;
  readonly #clock: Clock;

  constructor(
    { budgets, timezone }: { readonly budgets: readonly Budget[]; readonly timezone: string },
    { stores, clock }: { readonly stores: Stores; readonly clock: Clock },
  ) {
    this.#budgets = budgets;
    this.#timezone = timezone;
    this.#stores = stores;
    this.#clock = clock;
  }

  /** Whether there are any, so that tries are counted. */
  get areSet(): boolean {
    return this.#budgets.length > 0;
  }

  #of({ mapped, request }: RunDoc): Budget[] {
    return this.#budgets.filter(
      ({ where }) =>
        (where?.mapping === undefined || where.mapping === mapped?.mapping) &&
        (where?.agentId === undefined || where.agentId === request?.agentId),
    );
  }

  /**
   * Adds the tries of a run that have ended to the sums of its budgets, and notes the limits that are reached. Repeated after a
   * crash, it counts nothing twice.
   * @throws AppError unavailable
   */
  async count(runId: string): Promise<void> {
    const { runs, budgets } = this.#stores;
    if (!this.areSet) return;
    const run = await runs.collection.findOne({ _id: runId });
    if (!run?.uncounted?.length) return;
    const own = this.#of(run);
    const mapping = run.mapped?.mapping ?? null;
    for (const { id, at, ...tried } of run.uncounted)
      for (const budget of own) {
        const period = periodOf(budget, at, this.#timezone);
        await budgets.count({ id, budget: budget.id, period, mapping, spent: spentOf(tried) });
      }
    for (const budget of own) if (budget.then === "warn") await this.#warn(run, budget);
    await markCounted(runs.collection, run);
  }

  async #warn(run: RunDoc, budget: Budget, soFar: Tried = {}): Promise<void> {
    const { runs, budgets } = this.#stores;
    const { key, used, state } = await this.#state(run, budget, soFar);
    if (used === undefined || state.warned) return;
    // Noted first, under an id that every process derives, so that a crash neither loses nor repeats it.
    const id = createHash("sha256").update(key).digest("hex").slice(0, 24);
    await runs.note(run._id, { id, type: "budget.reached", at: this.#clock.now(), budget: { ...shown(budget), used } });
    await budgets.change(key, null, { warned: true });
  }

  /**
   * Decides whether a run may take a turn, or go on with one. A run that must ask has opened a gate on its job, or waits for the
   * gate of another run. Repeated after a crash, it finds the same gate.
   * @param soFar what its present attempt has used
   * @throws AppError unavailable
   */
  async check(run: RunDoc, soFar: Tried = {}): Promise<BudgetVerdict> {
    for (const budget of this.#of(run)) {
      if (budget.then === "warn") await this.#warn(run, budget, soFar);
      if (budget.then === "warn") continue;
      const verdict = await this.#checkOne(run, budget, soFar);
      if (verdict.kind !== "go") return verdict;
    }
    // The period may have ended before the answer, which counts for the runs that waited for it.
    const gate = run.awaits && (await this.#stores.gates.findById(run.awaits.gateId));
    if (!gate?.action || gate.action === "accept") return { kind: "go" };
    const detail = "The budget that was used up when the run began to wait was not raised.";
    return { kind: "refuse", error: new AppError("budget_exceeded", { detail }) };
  }

  async #checkOne(run: RunDoc, budget: Budget, soFar: Tried): Promise<BudgetVerdict> {
    const { budgets } = this.#stores;
    for (;;) {
      const { key, used, state } = await this.#state(run, budget, soFar);
      if (used === undefined) return { kind: "go" };
      if (budget.then === "refuse" || state.declined) return refused(budget, used, state);
      if (state.gateId !== null) {
        const gate = await this.#stores.gates.findById(state.gateId);
        if (gate?.status === "open") return waits(gate);
        await budgets.change(key, state.gateId, { gateId: null, ...(await this.#changeBy(gate, state)) });
        continue;
      }
      const gate = await this.#ask(run, budget, { used, isRunning: soFar.ms !== undefined });
      if (!gate) return refused(budget, used, state);
      if (await budgets.change(key, null, { gateId: gate._id })) return waits(gate);
      const other = await budgets.read(key);
      if (other.gateId !== gate._id) await this.#stores.gates.withdraw(gate); // another run was faster: one question is enough
    }
  }

  /** Returns the key of the budget in the period of a run, and what was used of it if that is all. */
  async #state(run: RunDoc, budget: Budget, soFar: Tried) {
    const { budgets } = this.#stores;
    const period = periodOf(budget, this.#clock.now(), this.#timezone);
    const key = stateKey(budget, period, `${run._id} ${run.round}`);
    const [spent, state] = await Promise.all([
      budget.per === "run" ? spentOf({ usage: run.usage, ms: run.turnMs }) : budgets.sum(budget.id, period),
      budgets.read(key),
    ]);
    const more = spentOf(soFar);
    const all = {
      usd: spent.usd + more.usd,
      tokens: spent.tokens + more.tokens,
      minutes: spent.minutes + more.minutes,
    };
    return { key, state, used: usedUp(budget, all, state.raises) };
  }

  /** Returns what a gate that is no longer open changes. */
  async #changeBy(gate: GateDoc | null, { raises }: Pick<BudgetDoc, "raises">) {
    if (gate?.action) return gate.action === "accept" ? { raises: raises + 1 } : { declined: true };
    // A gate that was withdrawn while its run waited counts as declined. That of a run that has ended decides nothing.
    const isRunning = gate && (await this.#stores.jobs.collection.exists({ _id: gate.job, status: "running" }));
    return isRunning ? { declined: true } : {};
  }

  /** Opens the gate of a run, on its job. @returns null if the run has no job that could ask */
  async #ask(run: RunDoc, budget: Budget, state: { used: string; isRunning: boolean }): Promise<GateDoc | null> {
    const { runs, gates } = this.#stores;
    try {
      await trackAccepted(this.#stores, await runs.trackAsJob(run._id));
      const job = await findGateJob(this.#stores, run._id);
      for (let n = 1; n <= MAX_QUESTIONS; n++) {
        const key = `budget-${budget.id}-${n}`;
        const existing = await gates.find(job, key);
        if (existing?.status === "open" && existing.openedBy === BY_BUDGET) return existing;
        if (existing) continue;
        const question = {
          title: `The budget ${budget.id} is used up. Go on?`,
          message: messageOf(run, budget, state),
        };
        const expiresAt = new Date(this.#clock.now().getTime() + ANSWER_WITHIN_MS);
        const asker = { actor: BY_BUDGET, mayAnswer: false };
        return (await gates.put(job, key, { ...question, expiresAt }, asker)).gate;
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "unavailable") throw error;
    }
    return null;
  }
}

const waits = ({ _id: gateId, jobId }: GateDoc): BudgetVerdict => ({ kind: "wait", awaits: { gateId, jobId } });

/** Queues the runs again that wait for a gate. Does nothing for other gates. @throws AppError unavailable */
export async function resumeRuns(
  { stores: { runs }, queues }: { readonly stores: Stores; readonly queues: Pick<Queues, "add"> },
  gateId: string,
): Promise<void> {
  const waiting = runs.collection.stream({ status: "waiting", "awaits.gateId": gateId }, { projection: { _id: 1 } });
  for await (const { _id: runId } of waiting)
    if (await runs.resume(runId, gateId)) await queues.add(agentHook, { runId }, { jobId: `${runId}-gate-${gateId}` });
}

/** Queues the runs again whose gate is no longer open, in case that a process died before it did. @throws AppError unavailable */
export async function resumeDecided(deps: Parameters<typeof resumeRuns>[0]): Promise<void> {
  const { runs, gates } = deps.stores;
  for (const gateId of await listAwaitedGates(runs.collection))
    if ((await gates.findById(gateId))?.status !== "open") await resumeRuns(deps, gateId);
}

/** Returns a figure with two significant digits below 1, so that a small one is not shown as 0. */
const rounded = (value: number, digits: number) => Number(value < 1 ? value.toPrecision(2) : value.toFixed(digits));

const UNITS = {
  usd: (value: number) => `$${rounded(value, 2)}`,
  tokens: (value: number) => `${Math.round(value).toLocaleString("en")} tokens`,
  minutes: (value: number) => `${rounded(value, 1)} minutes`,
} as const;

/** Returns the figure that has reached its limit, such as `$5.12 of $5`; undefined if none has. */
function usedUp(budget: Budget, spent: Spent, raises: number): string | undefined {
  const figure = FIGURES.find((name) => spent[name] >= (budget[name] ?? Number.POSITIVE_INFINITY) * (1 + raises));
  return figure && `${UNITS[figure](spent[figure])} of ${UNITS[figure]((budget[figure] ?? 0) * (1 + raises))}`;
}

const shown = ({ id, per }: Budget) => ({ id, per });

const PERIODS = { run: "by this run", day: "today", month: "this month" } as const;

function messageOf(
  { _id, name, mapped, request }: RunDoc,
  budget: Budget,
  { used, isRunning }: { readonly used: string; readonly isRunning: boolean },
): string {
  const { mapping, agentId } = budget.where ?? {};
  const of = [mapping && `the mapping ${mapping}`, agentId && `the agent ${agentId}`].filter(Boolean).join(" and ");
  const more = Object.entries(budget).flatMap(([key, value]) =>
    key in UNITS ? [UNITS[key as "usd"](Number(value))] : [],
  );
  const source = [mapped && `mapping ${mapped.mapping}`, request?.agentId && `agent ${request.agentId}`].filter(
    Boolean,
  );
  return [
    `${used} were used ${PERIODS[budget.per]}${of && ` for ${of}`}.`,
    `The run ${name ?? _id}${source.length > 0 ? ` (${source.join(", ")})` : ""} ${isRunning ? "works on until you answer" : "waits"}.`,
    `Accept raises the limit by ${more.join(" and ")} once. Decline ends the run.`,
  ].join(" ");
}

function refused({ id, per }: Budget, used: string, { declined }: Pick<BudgetDoc, "declined">): BudgetVerdict {
  const detail = `The budget ${id} is used up: ${used} ${PERIODS[per]}${declined ? ", and raising it was declined" : ""}.`;
  return { kind: "refuse", error: new AppError("budget_exceeded", { detail }) };
}
