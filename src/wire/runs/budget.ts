import Type, { type Static } from "typebox";
import * as s from "../blocks.ts";

const Amount = Type.Number({ minimum: 0, description: "Amount in the unit of its name." });
const AmountOrNull = s.nullable(Type.Number(), {
  description: "Amount in the unit of its name; null if it is not limited.",
});

/** A budget, with what was spent of it in its present period. */
export const Budget = Type.Object(
  {
    id: Type.String({ description: "Identifies the budget." }),
    per: Type.Enum(["run", "day", "month"], { description: "The period of its limits." }),
    mapping: s.nullable(Type.String(), { description: "The mapping whose runs it counts; null for all." }),
    agentId: s.nullable(Type.String(), { description: "The agent whose runs it counts; null for all." }),
    // biome-ignore lint/suspicious/noThenProperty: a text, which nothing calls
    then: Type.Enum(["warn", "ask", "refuse"], {
      description: "The act at a limit: an event, a question, or no further turn.",
    }),
    period: Type.String({
      description: "The present day or month in `agents.timezone`; the day too for a budget of each run.",
    }),
    state: Type.Enum(["within", "reached", "asking", "declined"], {
      description:
        "`within`: no limit is reached, as for every budget of each run. `asking`: runs wait for the answer to a question. `declined`: the answer was no.",
    }),
    raises: Type.Integer({ minimum: 0, description: "How often its limits were raised by their own amount." }),
    limits: Type.Object(
      { usd: AmountOrNull, tokens: AmountOrNull, minutes: AmountOrNull },
      { ...s.named("BudgetLimits"), description: "The limits, with what they were raised by." },
    ),
    spent: Type.Object(
      { usd: Amount, tokens: Amount, minutes: Amount },
      { ...s.named("BudgetSpent"), description: "The sum of the ended attempts in the period." },
    ),
    byMapping: Type.Array(
      Type.Object(
        {
          mapping: s.nullable(Type.String(), { description: "The mapping; null for runs without one." }),
          usd: Amount,
          tokens: Amount,
          minutes: Amount,
        },
        s.named("BudgetShare"),
      ),
      { description: "The parts of `spent` by mapping, the largest first." },
    ),
  },
  s.named("Budget"),
);
export type Budget = Static<typeof Budget>;
