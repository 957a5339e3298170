import type { Config } from "../../config/config.ts";
import type { Expectation, NotifyRule } from "../../wire/notify.ts";
import type { ReadDelivery } from "../deliveries/delivery.ts";
import { viewDelivery } from "../deliveries/readDeliveries.ts";
import { findNewest } from "../jobs/search/newestJob.ts";
import { nextDue, scheduleOf } from "./expectation.ts";
import type { NotificationStores } from "./notificationStores.ts";

type Rule = Config["notify"][number];
type Expected = Config["expect"][number];

const DAY_MS = 86_400_000;
/** Number of deliveries shown with each rule. The list of deliveries has all of them. */
const MAX_LATEST = 5;

/** Returns the rules of the configuration with their latest deliveries. */
export async function readRules(
  { deliveries }: Pick<NotificationStores, "deliveries">,
  rules: readonly Rule[],
  now: Date,
): Promise<NotifyRule[]> {
  const since = new Date(now.getTime() - DAY_MS);
  const counts = (match: object) =>
    deliveries.collection.aggregate<{ _id: string; count: number }>([
      { $match: { ...match, "event.rule": { $type: "string" } } },
      { $group: { _id: "$event.rule", count: { $sum: 1 } } },
    ]);
  const [latest, pending, failed] = await Promise.all([
    Promise.all(rules.map(({ id }) => deliveries.findLatestOfRule(id, MAX_LATEST))),
    counts({ open: true }),
    counts({ state: "failed", createdAt: { $gte: since } }),
  ]);
  const countOf = (found: readonly { _id: string; count: number }[], rule: string) =>
    found.find(({ _id }) => _id === rule)?.count ?? 0;
  return rules.map((rule, i) => ({
    ...viewRule(rule, latest[i] ?? []),
    pending: countOf(pending, rule.id),
    failed: countOf(failed, rule.id),
  }));
}

function viewRule(
  { id, on, where, to, after = 1, cooldown }: Rule,
  latest: readonly ReadDelivery[],
): Omit<NotifyRule, "pending" | "failed"> {
  const [last] = latest;
  return {
    ruleId: id,
    on: [...on],
    where: where ? { ...where } : null,
    to: viewTarget(to),
    after,
    cooldown: cooldown ?? null,
    lastEvent: last?.event ? { type: last.event.type, at: last.createdAt.toISOString() } : null,
    latestDeliveries: latest.map(viewDelivery),
  };
}

function viewTarget({ webhook, channel, to, wake }: Rule["to"]): NotifyRule["to"] {
  const none = { url: null, format: null, channel: null, to: null, wakeMode: null };
  if (webhook) return { ...none, kind: "webhook", url: new URL(webhook.url).origin, format: webhook.format };
  if (wake) return { ...none, kind: "wake", wakeMode: wake };
  return { ...none, kind: "channel", channel: channel ?? null, to: to ?? null };
}

/** Returns the expectations of the configuration and when they were last met. */
export async function readExpectations(
  { expectations, jobs }: Pick<NotificationStores, "expectations" | "jobs">,
  expected: readonly Expected[],
): Promise<Expectation[]> {
  if (expected.length === 0) return [];
  const known = new Map((await expectations.list()).map((one) => [one._id, one]));
  return Promise.all(
    expected.map(async (one) => {
      const { id, name, every, cron, timezone, grace } = one;
      const found = known.get(id);
      const state = found?.name === name ? found : undefined; // another name begins it again
      // The scan looks for jobs only when one is due.
      const newest = await findNewest(jobs, name, state?.lastSeenAt ?? state?.since ?? new Date(0));
      const current = state && newest ? { ...state, lastSeenAt: newest, missedAt: null } : state;
      return {
        expectationId: id,
        name,
        every: every ?? null,
        cron: cron ?? null,
        timezone: cron === undefined ? null : (timezone ?? "UTC"),
        grace: grace ?? null,
        lastSeenAt: (newest ?? current?.lastSeenAt)?.toISOString() ?? null,
        missedAt: current?.missedAt?.toISOString() ?? null,
        nextDueAt: current ? nextDue(current, scheduleOf(one)).toISOString() : null,
      };
    }),
  );
}
