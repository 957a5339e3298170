import Type from "typebox";
import { deliveryIdOf } from "../../models/deliveries/delivery.ts";
import { readExpectations, readRules } from "../../models/notifications/readRules.ts";
import { AppError } from "../../shared/errors.ts";
import * as s from "../../wire/blocks.ts";
import { Expectation, NotifyRule } from "../../wire/notify.ts";
import * as examples from "../examples/notify.ts";
import { route } from "../routing/route.ts";

const getNotify = route({
  method: "get",
  path: "/api/notify",
  operationId: "listNotifyRules",
  scopes: ["runs:read"],
  tag: "notify",
  summary: "List rules and expectations",
  description:
    "Returns the rules of `notify` and the expectations of `expect` in the order of the configuration, with their latest events. Secrets, headers and the paths of addresses are left out. Use `GET /api/deliveries?rule=ID` for all deliveries of a rule.",
  example: examples.listNotifyRules,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        rules: Type.Array(NotifyRule, { description: "The rules of the configuration." }),
        expectations: Type.Array(Expectation, { description: "The expectations of the configuration." }),
      },
      s.named("NotifyRules"),
    ),
  },
  errors: [],
  async handler(_input, { stores, notify, expect, clock }) {
    const [rules, expectations] = await Promise.all([
      readRules(stores, notify, clock.now()),
      readExpectations(stores, expect),
    ]);
    return { status: 200, body: { rules, expectations } };
  },
});

const testRule = route({
  method: "post",
  path: "/api/notify/:ruleId/test",
  operationId: "testNotifyRule",
  scopes: ["runs:write"],
  tag: "notify",
  summary: "Test a rule",
  description:
    "Sends the event `test` to the target of a rule, as a delivery like that of any other event, whatever the rule's conditions and limits (202). Follow the delivery in `GET /api/deliveries?rule=ID`; it appears there once a worker has made it.",
  example: examples.testNotifyRule,
  schemas: { params: Type.Object({ ruleId: s.RuleId }) },
  answers: {
    202: Type.Object(
      { deliveryId: Type.String({ description: "Identifies the delivery of the test." }) },
      s.named("TestDelivery"),
    ),
  },
  errors: ["rule_not_found"],
  audit: ({ params: { ruleId } }) => ({ action: "rule.test", target: ruleId }),
  async handler({ params: { ruleId } }, { stores, notify }) {
    if (!notify.some(({ id }) => id === ruleId)) {
      throw new AppError("rule_not_found", { detail: `There is no rule ${JSON.stringify(ruleId)} in \`notify\`.` });
    }
    return { status: 202, body: { deliveryId: deliveryIdOf(await stores.outbox.addTest(ruleId), ruleId) } };
  },
});

export const notifyRoutes = [getNotify, testRule];
