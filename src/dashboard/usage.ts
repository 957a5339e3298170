import type { Usage } from "../client/records/runs.ts";
import { count } from "./time.ts";

/** Formats a number of tokens with a part of it, such as `1,840 (1,024 cached)`; null if it was not reported. */
export function tokens(all: number | null, part: number | null, ofPart: string): string | null {
  if (all === null) return null;
  return part === null ? count(all) : `${count(all)} (${count(part)} ${ofPart})`;
}

export const dollars = (cost: number): string =>
  cost.toLocaleString(undefined, { style: "currency", currency: "USD", maximumFractionDigits: 4 });

const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });

/** Formats the number of all tokens shortly, such as `12.4K`. */
export const allTokens = ({ inputTokens, outputTokens }: Usage): string =>
  COMPACT.format((inputTokens ?? 0) + (outputTokens ?? 0));

/** Describes the usage of a run in one line. */
export function describeUsage(usage: Usage): string {
  const input = tokens(usage.inputTokens, usage.cachedInputTokens, "cached");
  const output = tokens(usage.outputTokens, usage.reasoningTokens, "reasoning");
  const parts = [
    input && `input ${input}`,
    output && `output ${output}`,
    usage.costUsd !== null && dollars(usage.costUsd),
  ];
  return parts.filter(Boolean).join(", ");
}
