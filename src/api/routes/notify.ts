import Type from "typebox";
import { deliveryIdOf } from "../../models/deliveries/delivery.ts";
import { readExpectations, readRules } from "../../models/notifications/readRules.ts";
import { AppError } from "../../shared/errors.ts";
import * as s from "../../wire/blocks.ts";
import { Delivery, DeliveryKind } from "../../wire/delivery.ts";
import * as examples from "../examples/notify.ts";
import { route } from "../route.ts";

const Target = Type.Object(
  {
    kind: DeliveryKind,
    url: s.nullable(Type.String(), {
      description: "The origin of a webhook's address, because its path may be a secret; null for other kinds.",
    }),
    format: s.nullable(Type.Enum(["standard", "cloudevents"], { title: "WebhookFormat" }), {
      description: "Format of a webhook's body; null for other kinds.",
    }),
    channel: s.nullable(Type.String(), {
      description: "Channel of the message, or `last` for that of the main session's replies; null for other kinds.",
    }),
    to: s.nullable(Type.String(), {
      description:
        "Recipient on the channel; null for other kinds, and for the recipient of the main session's replies.",
    }),
    wakeMode: s.nullable(Type.Enum(["now", "next-heartbeat"], { title: "WakeMode" }), {
      description: "When the main session reads the event; null for other kinds.",
    }),
  },
  { ...s.named("NotifyTarget"), description: "Target of the events." },
);

const Rule = Type.Object(
  {
    ruleId: s.RuleId,
    on: Type.Array(Type.String(), { description: "Types of the events that the rule handles." }),
    where: s.nullable(s.FreeObject("Conditions that an event must meet."), {
      description: "Conditions that an event must meet; null if there are none.",
    }),
    to: Target,
    after: Type.Integer({ minimum: 1, description: "Failures in a row from which `job.failed` is announced." }),
    cooldown: s.nullable(Type.String(), {
      description: "Minimum time between two messages about one subject, such as `1h`; null for no limit.",
    }),
    lastEvent: s.nullable(
      Type.Object(
        {
          type: Type.String({ description: "Type of the event, such as `job.failed`." }),
          at: s.Timestamp("When the rule handled it."),
        },
        s.named("NotifyRuleEvent"),
      ),
      { description: "The latest event that the rule has sent; null if there was none, or its delivery was deleted." },
    ),
    latestDeliveries: Type.Array(Delivery, {
      description: "The latest deliveries of the rule, at most five, newest first.",
    }),
    pending: s.Count("Number of deliveries of the rule that wait or are being sent."),
    failed: s.Count("Number of deliveries of the rule from the last 24 hours that failed."),
  },
  s.named("NotifyRule"),
);

const Expectation = Type.Object(
  {
    expectationId: Type.String({ description: "The id of an entry of `expect`." }),
    name: Type.String({ description: "Beginning of the name of the expected jobs." }),
    every: Type.String({ description: "How often a new job is expected, such as `1d`." }),
    grace: s.nullable(Type.String(), { description: "How long a job may be late, such as `2h`; null for no time." }),
    lastSeenAt: s.TimestampOrNull(
      "When such a job was last created; null if none was created since the expectation was configured.",
    ),
    missedAt: s.TimestampOrNull("When a job was due and missing (`job.missing`); null if none is missing."),
    nextDueAt: s.TimestampOrNull(
      "When the next job is due, with `grace`: `job.missing` follows if none has been created by then. It is past while a job is overdue and not announced. Null until a worker has begun to watch.",
    ),
  },
  s.named("Expectation"),
);

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
        rules: Type.Array(Rule, { description: "The rules of the configuration." }),
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
