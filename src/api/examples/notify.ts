import { Delivery } from "../../wire/delivery.ts";
import { type Example, withNulls } from "./example.ts";

const EVENT_ID = "697e3f1c5a2b4d0012c8e9f4";

const DELIVERY = withNulls(Delivery, {
  deliveryId: `${EVENT_ID}-sales`,
  kind: "webhook",
  rule: "sales",
  eventType: "job.failed",
  channel: "webhook",
  to: "sales",
  state: "sent",
  attempts: 1,
  lastStatus: 200,
  parts: [],
  maybeTwice: false,
  createdAt: "2026-01-31T18:00:09.000Z",
  sentAt: "2026-01-31T18:00:10.000Z",
} as const);

export const listNotifyRules: Example = {
  answers: {
    200: {
      rules: [
        {
          ruleId: "sales",
          on: ["job.failed", "job.stale", "job.recovered"],
          where: { name: "Nightly", metadata: { team: "sales" } },
          to: {
            kind: "webhook",
            url: "https://ci.example.com",
            format: "standard",
            channel: null,
            to: null,
            wakeMode: null,
          },
          after: 1,
          cooldown: "1h",
          lastEvent: { type: "job.failed", at: "2026-01-31T18:00:09.000Z" },
          latestDeliveries: [DELIVERY],
          pending: 0,
          failed: 0,
        },
      ],
      expectations: [
        {
          expectationId: "backup",
          name: "Nightly backup",
          every: "1d",
          cron: null,
          timezone: null,
          grace: "2h",
          lastSeenAt: "2026-01-31T02:00:00.000Z",
          missedAt: null,
          nextDueAt: "2026-02-01T04:00:00.000Z",
        },
      ],
    },
  },
};

export const testNotifyRule: Example = {
  params: { ruleId: "sales" },
  answers: { 202: { deliveryId: DELIVERY.deliveryId } },
};
