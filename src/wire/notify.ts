import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { Delivery, DeliveryKind } from "./delivery.ts";

const NotifyTarget = Type.Object(
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

/** A rule of the configuration, without secrets, and its latest deliveries. */
export const NotifyRule = Type.Object(
  {
    ruleId: s.RuleId,
    on: Type.Array(Type.String(), { description: "Types of the events that the rule handles." }),
    where: s.nullable(s.FreeObject("Conditions that an event must meet."), {
      description: "Conditions that an event must meet; null if there are none.",
    }),
    to: NotifyTarget,
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
export type NotifyRule = Static<typeof NotifyRule>;

/** An expectation of the configuration and when it was last met. */
export const Expectation = Type.Object(
  {
    expectationId: Type.String({ description: "The id of an entry of `expect`." }),
    name: Type.String({ description: "Beginning of the name of the expected jobs." }),
    every: s.nullable(Type.String(), {
      description: "How often a new job is expected, such as `1d`; null with `cron`.",
    }),
    cron: s.nullable(Type.String(), {
      description: "The times by which a job must have begun, as cron writes them; null with `every`.",
    }),
    timezone: s.nullable(Type.String(), { description: "The time zone of `cron`; null with `every`." }),
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
export type Expectation = Static<typeof Expectation>;
