import type { Usage } from "../../wire/usage.ts";
import { number, object, optional, type Stored } from "../db/fields.ts";

/** The usage that was reported for a try, or the sum of tries. Members that no try reported are missing. */
export const StoredUsage = object({
  /** Includes cached tokens. */
  inputTokens: optional(number),
  cachedInputTokens: optional(number),
  /** Includes reasoning tokens. */
  outputTokens: optional(number),
  reasoningTokens: optional(number),
  /** US dollars. */
  costUsd: optional(number),
});
export type StoredUsage = Stored<typeof StoredUsage>;

export const USAGE_MEMBERS = [
  "inputTokens",
  "cachedInputTokens",
  "outputTokens",
  "reasoningTokens",
  "costUsd",
] as const;

/** Decimal places of a cost. Sums of floating-point numbers are not exact beyond them. */
const COST_DECIMALS = 8;

/** Returns the operator that adds the usage of a try to that of its run; empty without usage. */
export function addUsage(usage: StoredUsage | undefined): { $inc?: Record<string, number> } {
  const added = Object.entries(usage ?? {}).map(([member, value]) => [`usage.${member}`, value]);
  return added.length > 0 ? { $inc: Object.fromEntries(added) } : {};
}

/** Returns usage as clients read it; null without usage. */
export function viewUsage(usage: StoredUsage | undefined): Usage | null {
  if (!usage) return null;
  const { inputTokens = null, cachedInputTokens = null, outputTokens = null, reasoningTokens = null } = usage;
  const costUsd = usage.costUsd === undefined ? null : Number(usage.costUsd.toFixed(COST_DECIMALS));
  return { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd };
}
