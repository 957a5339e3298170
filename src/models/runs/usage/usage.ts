import type { Usage } from "../../../wire/runs/usage.ts";
import * as f from "../../db/fields.ts";

/** The usage that was reported for a try, or the sum of tries. Members that no try reported are missing. */
export const StoredUsage = f.object({
  /** Includes cached tokens. */
  inputTokens: f.optional(f.number),
  cachedInputTokens: f.optional(f.number),
  /** Includes reasoning tokens. */
  outputTokens: f.optional(f.number),
  reasoningTokens: f.optional(f.number),
  /** US dollars. */
  costUsd: f.optional(f.number),
});
export type StoredUsage = f.Stored<typeof StoredUsage>;

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
