import Type, { type Static } from "typebox";
import { type Frozen, text } from "../nodes.ts";

const amount = (description: string, example: number) =>
  Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000_000, examples: [example], description }));

/** One entry of `agents.budgets`. */
export const BudgetSchema = Type.Object(
  {
    id: text({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
      examples: ["daily"],
      description: "Name of the budget in questions, errors and lists.",
    }),
    per: Type.Enum(["run", "day", "month"], {
      examples: ["day"],
      description: "The period of its limits: one run with all its attempts, or a day or month of `agents.timezone`.",
    }),
    where: Type.Optional(
      Type.Object(
        {
          mapping: Type.Optional(text({ examples: ["ci"], description: "Only runs of this mapping, by its name." })),
          agentId: Type.Optional(text({ examples: ["reviewer"], description: "Only runs of this agent." })),
        },
        { additionalProperties: false, description: "Which runs it counts. Without it all of them." },
      ),
    ),
    usd: amount("Limit in US dollars. Only what programs report counts; nothing is estimated.", 5),
    tokens: amount("Limit of input and output tokens together, as servers and programs report them.", 2_000_000),
    minutes: amount("Limit of the time of turns, in minutes.", 60),
    // biome-ignore lint/suspicious/noThenProperty: a text, which nothing calls
    then: Type.Enum(["warn", "ask", "refuse"], {
      examples: ["ask"],
      description:
        "The act at a limit. `warn`: the event `budget.reached`, once. `ask`: the next turn waits for a person. `refuse`: the next turn fails with `budget_exceeded`.",
    }),
  },
  { additionalProperties: false },
);
export type Budget = Frozen<Static<typeof BudgetSchema>>;

/** The figures that a budget can limit. */
export const FIGURES = ["usd", "tokens", "minutes"] as const;

/** Returns the period of a time: a day such as `2026-11-27`, or a month such as `2026-11`. That of a run is shown by the day. */
export function periodOf({ per }: Pick<Budget, "per">, at: Date, timeZone: string): string {
  const day = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    at,
  );
  return per === "month" ? day.slice(0, "2026-11".length) : day;
}
