import type { Budget } from "../../wire/runs/budget.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { Failure, GuideLink } from "../components/notice.tsx";
import { PlainTable } from "../components/tables/plainTable.tsx";
import { Facts } from "../components/values/facts.tsx";
import { useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { visible } from "../text.ts";
import { count } from "../time.ts";
import { dollars } from "../usage.ts";

/** The budgets, with what was spent of each. */
export function BudgetsPage() {
  const { value, error, reload } = useQuery((signal) => service.budgets({ signal }), "budgets");
  useReloadEvery(reload);
  return (
    <>
      <PageHead title="Budgets" />
      {error !== null && <Failure error={error} retry={reload} />}
      {value?.budgets.length === 0 && (
        <p class="muted section">
          No budget is configured. <GuideLink page="how-to/set-budgets" />
        </p>
      )}
      {value?.budgets.map((budget) => (
        <BudgetCard key={budget.id} budget={budget} />
      ))}
    </>
  );
}

const PERIODS = { run: "Each run", day: "Day", month: "Month" } as const;
const ACTS = { warn: "an event is sent", ask: "a person is asked", refuse: "the next turn is refused" } as const;
const STATES = {
  within: "Within its limits",
  reached: "Used up",
  asking: "Waits for an answer",
  declined: "Used up, and raising it was declined",
} as const;

function BudgetCard({ budget }: { budget: Budget }) {
  const { id, per, period, mapping, agentId, then, state, raises, limits, spent, byMapping } = budget;
  return (
    <section class="card section" aria-labelledby={`budget-${id}`}>
      <h2 id={`budget-${id}`}>{id}</h2>
      <Facts
        facts={[
          [PERIODS[per], period],
          ["Runs of", [mapping && `mapping ${mapping}`, agentId && `agent ${agentId}`].filter(Boolean).join(", ")],
          ["At the limit", ACTS[then]],
          ["State", per !== "run" && STATES[state]],
          ["Raised", raises > 0 && `${count(raises)} times`],
          ["Cost", limits.usd !== null && of(dollars(spent.usd), dollars(limits.usd), per)],
          ["Tokens", limits.tokens !== null && of(count(spent.tokens), count(limits.tokens), per)],
          ["Minutes", limits.minutes !== null && of(minutes(spent.minutes), minutes(limits.minutes), per)],
        ]}
      />
      {byMapping.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label={`Spent of ${id} by mapping`}>
          <PlainTable
            rows={byMapping}
            idOf={({ mapping }) => `${mapping}`}
            columns={[
              ["Mapping", ({ mapping }) => (mapping === null ? "Agent hook" : <bdi>{visible(mapping)}</bdi>)],
              ["Cost", ({ usd }) => dollars(usd)],
              ["Tokens", ({ tokens }) => count(tokens)],
              ["Minutes", (one) => minutes(one.minutes)],
            ]}
          />
        </div>
      )}
    </section>
  );
}

/** Compares what was spent with a limit; that of each run is no limit of the sum. */
const of = (spent: string, limit: string, per: Budget["per"]) =>
  per === "run" ? `${limit} a run, ${spent} today` : `${spent} of ${limit}`;

const minutes = (value: number): string => count(Math.round(value * 10) / 10);
