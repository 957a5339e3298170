import Type, { type Static } from "typebox";
import { closedObject } from "../db/collection.ts";

/** The usage that was reported for a try, or the sum of tries. Members that no try reported are missing. */
export const StoredUsage = closedObject({
  /** Includes cached tokens. */
  inputTokens: Type.Optional(Type.Number()),
  cachedInputTokens: Type.Optional(Type.Number()),
  /** Includes reasoning tokens. */
  outputTokens: Type.Optional(Type.Number()),
  reasoningTokens: Type.Optional(Type.Number()),
  /** US dollars. */
  costUsd: Type.Optional(Type.Number()),
});
export type StoredUsage = Static<typeof StoredUsage>;

export const USAGE_MEMBERS = [
  "inputTokens",
  "cachedInputTokens",
  "outputTokens",
  "reasoningTokens",
  "costUsd",
] as const;

/** Usage as clients read it. A member is null if nothing reported it. */
export type UsageView = Record<(typeof USAGE_MEMBERS)[number], number | null>;

/** Decimal places of a cost. Sums of floating-point numbers are not exact beyond them. */
const COST_DECIMALS = 8;

/** Returns the operator that adds the usage of a try to that of its run; empty without usage. */
export function addUsage(usage: StoredUsage | undefined): { $inc?: Record<string, number> } {
  const added = Object.entries(usage ?? {}).map(([member, value]) => [`usage.${member}`, value]);
  return added.length > 0 ? { $inc: Object.fromEntries(added) } : {};
}

/** Returns usage as clients read it; null without usage. */
export function viewUsage(usage: StoredUsage | undefined): UsageView | null {
  if (!usage) return null;
  const { inputTokens = null, cachedInputTokens = null, outputTokens = null, reasoningTokens = null } = usage;
  const costUsd = usage.costUsd === undefined ? null : Number(usage.costUsd.toFixed(COST_DECIMALS));
  return { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd };
}
