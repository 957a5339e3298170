import { isTimezone } from "../../shared/text/cron.ts";
import { type Mapping, mappingKey } from "../mappings/mapping.ts";
import type { Check } from "../nodes.ts";
import { type Agents, agentFault, agentSettings, programOf } from "./agents.ts";
import { type Budget, FIGURES } from "./budget.ts";

/** The sections that these checks read. */
interface Checked {
  readonly agents: Agents;
  readonly hooks: { readonly mappings: readonly Mapping[]; readonly presets: readonly string[] };
}

export const budgetChecks: readonly Check<Checked>[] = [
  {
    reads: ["agents.timezone"],
    find: ({ agents: { timezone } }) => [
      !isTimezone(timezone) && `agents.timezone is no time zone: write a name such as Europe/Berlin`,
    ],
  },
  { reads: ["agents.budgets", "agents.list", "hooks"], find: budgetFaults },
];

function budgetFaults({ agents, hooks }: Checked): string[] {
  const names = [...hooks.mappings.map(mappingKey), ...hooks.presets.map((name) => `preset:${name}`)];
  return agents.budgets.flatMap((budget, i) => {
    const { id, where = {} } = budget;
    const { mapping } = where;
    const unknown = agentFault(agents, where.agentId);
    return [
      agents.budgets.findIndex((one) => one.id === id) < i && "id is used twice: give each budget its own",
      FIGURES.every((figure) => budget[figure] === undefined) && "has no limit: set usd, tokens or minutes",
      unknown !== null && `where.agentId ${unknown}`,
      mapping !== undefined &&
        !names.includes(mapping) &&
        `where.mapping names no mapping: it must be one of ${names.join(", ") || "hooks.mappings, which has none"}`,
    ].flatMap((fault) =>
      typeof fault === "string"
        ? [`agents.budgets.${i}${fault.startsWith("has ") ? "" : "."}${fault.startsWith("has ") ? ` ${fault}` : fault}`]
        : [],
    );
  });
}

/** Returns a sentence for each limit that can never be reached, because no agent of its runs reports the figure. */
export const blindBudgets = (agents: Agents): string[] =>
  agents.budgets.flatMap((budget) =>
    (["usd", "tokens"] as const).flatMap((figure) =>
      budget[figure] !== undefined && !agentIdsOf(agents, budget).some((id) => reports(agents, id, figure))
        ? [
            `The budget ${budget.id} never reaches its limit of ${figure}, because no agent that it counts reports them.`,
          ]
        : [],
    ),
  );

const agentIdsOf = ({ list }: Agents, { where }: Budget): (string | null)[] =>
  where?.agentId === undefined ? [null, ...Object.keys(list)] : [where.agentId];

/** Returns whether the runner of an agent may report a figure: model servers report tokens, programs what is in their JSON. */
function reports(agents: Agents, agentId: string | null, figure: "usd" | "tokens"): boolean {
  const settings = agentSettings(agents, agentId) ?? agents.defaults;
  if (settings.runner === "command") return programOf(agents, settings)?.output === "json";
  return settings.runner === "openai" && figure === "tokens";
}
