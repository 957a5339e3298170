import { type Budget as BudgetConfig, FIGURES, periodOf } from "../../config/agents/budget.ts";
import type { Budget } from "../../wire/runs/budget.ts";
import type { Budgets } from "./budget.ts";

/** Returns the budgets of a configuration, with what was spent of each in its present period. */
export const readBudgets = (
  budgets: Budgets,
  { budgets: configured, timezone }: { readonly budgets: readonly BudgetConfig[]; readonly timezone: string },
  now: Date,
): Promise<Budget[]> => Promise.all(configured.map((one) => readBudget(budgets, one, periodOf(one, now, timezone))));

async function readBudget(budgets: Budgets, budget: BudgetConfig, period: string): Promise<Budget> {
  const { id, per, then, where } = budget;
  const [sums, { raises, gateId, declined }] = await Promise.all([
    budgets.spent.find({ budget: id, period }, { projection: { recent: 0 } }),
    budgets.read(stateKey(budget, period)),
  ]);
  const of = (value: (figure: (typeof FIGURES)[number]) => number | null) =>
    Object.fromEntries(FIGURES.map((figure) => [figure, value(figure)])) as never;
  const limits: Budget["limits"] = of((figure) => {
    const limit = budget[figure];
    return limit === undefined ? null : limit * (1 + raises);
  });
  const spent: Budget["spent"] = of((figure) => sums.reduce((sum, one) => sum + one[figure], 0));
  const isReached =
    per !== "run" && FIGURES.some((figure) => spent[figure] >= (limits[figure] ?? Number.POSITIVE_INFINITY));
  return {
    id,
    per,
    mapping: where?.mapping ?? null,
    agentId: where?.agentId ?? null,
    then,
    period,
    state: declined ? "declined" : gateId !== null ? "asking" : isReached ? "reached" : "within",
    raises,
    limits,
    spent,
    byMapping: sums
      .map(({ mapping, usd, tokens, minutes }) => ({ mapping, usd, tokens, minutes }))
      .sort((a, b) => b.usd - a.usd || b.tokens - a.tokens || b.minutes - a.minutes),
  };
}

/** Returns the key of a budget in a period, or in one round of a run. */
export const stateKey = ({ id, per }: Pick<BudgetConfig, "id" | "per">, period: string, run = ""): string =>
  `${id} ${per === "run" ? run : period}`;
