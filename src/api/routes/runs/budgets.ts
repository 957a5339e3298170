import Type from "typebox";
import { readBudgets } from "../../../models/budgets/readBudgets.ts";
import * as s from "../../../wire/blocks.ts";
import { Budget } from "../../../wire/runs/budget.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../routing/route.ts";

export const getBudgets = route({
  method: "get",
  path: "/api/budgets",
  operationId: "listBudgets",
  scopes: ["runs:read"],
  tag: "runs",
  summary: "List budgets",
  description:
    "Returns the budgets of `agents.budgets` in their order, each with its limits and with what runs have spent in its present period, by mapping.",
  example: examples.listBudgets,
  schemas: {},
  answers: { 200: Type.Object({ budgets: s.Rows(Budget) }, s.named("BudgetList")) },
  errors: [],
  async handler(_input, { stores, agents, clock }) {
    return { status: 200, body: { budgets: await readBudgets(stores.budgets, agents, clock.now()) } };
  },
});
