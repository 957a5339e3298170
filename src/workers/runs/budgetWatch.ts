import type { TurnEvent } from "../../agents/runners/runner.ts";
import type { AgentRun, AttemptReport } from "../../models/runs/run.ts";
import type { AppError } from "../../shared/errors.ts";
import type { RunBudgets } from "./budgets.ts";

/** Minimum interval between two checks of one turn, each of which reads the sums of its budgets. */
const CHECK_EVERY_MS = 500;
/** Maximum characters of the text that a turn keeps for its end by a budget. */
const MAX_TEXT_CHARS = 100_000;

/** The events after which a turn may end without cutting a text or the work of a tool in two. */
const BOUNDARIES: readonly TurnEvent["type"][] = ["usage", "tool.started", "tool.completed"];

/**
 * Checks the budgets of a run while its turn runs, at the boundaries that the runner reports. A budget that refuses, or whose
 * question was declined, ends the turn. A budget that asks opens its question, and the turn goes on until it is answered: ended
 * for a question, it would have to begin again, and spend twice.
 */
export class BudgetWatch {
  readonly #budgets: RunBudgets;
  readonly #run: AgentRun;
  readonly #stop: (error: AppError) => void;
  readonly #began = performance.now();
  #usage: AttemptReport["usage"];
  #text = "";
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  /** @param stop ends the turn */
  constructor(budgets: RunBudgets, run: AgentRun, stop: (error: AppError) => void) {
    this.#budgets = budgets;
    this.#run = run;
    this.#stop = stop;
  }

  /** The text of the agent so far; null if there is none. */
  get text(): string | null {
    return this.#text || null;
  }

  onEvent(event: TurnEvent): void {
    if (!this.#budgets.areSet) return;
    if (event.type === "message.delta") this.#text = (this.#text + event.delta).slice(0, MAX_TEXT_CHARS).toWellFormed();
    if (event.type === "usage") this.#usage = event.usage;
    if (!BOUNDARIES.includes(event.type)) return;
    this.#isDue = true;
    if (!this.#timer) this.#check();
  }

  /** Ends the checks, and waits for one that is under way. */
  async close(): Promise<void> {
    this.#isDue = false;
    clearTimeout(this.#timer);
    await this.#checking;
  }

  #check(): void {
    this.#timer = undefined;
    if (!this.#isDue) return;
    this.#isDue = false;
    const soFar = { usage: this.#usage, ms: performance.now() - this.#began };
    this.#checking = this.#budgets.check(this.#run, soFar).then(
      (verdict) => {
        if (verdict.kind === "refuse") this.#stop(verdict.error);
      },
      () => {}, // The next boundary checks again, and so does the next turn.
    );
    this.#timer = setTimeout(() => void this.#checking?.then(() => this.#check()), CHECK_EVERY_MS);
  }
}
