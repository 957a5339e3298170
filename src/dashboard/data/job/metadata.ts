import type { FreeObject } from "../../../client/client.ts";

/** Returns the values of metadata that jobs can be searched by, with their keys; nested keys are joined by dots. */
export function metadataPairs(metadata: FreeObject | null | undefined): [key: string, value: string][] {
  const pairs: [string, string][] = [];
  const collect = (path: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) collect(path, item);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) collect(path ? `${path}.${key}` : key, item);
    } else if (value !== null && value !== undefined) pairs.push([path, String(value)]);
  };
  collect("", metadata);
  return pairs;
}

/** Number of rows whose metadata is suggested, and of the suggestions shown. */
const MAX_ROWS = 500;
const MAX_SUGGESTIONS = 20;
const STATES = ["running", "stale", "completed", "failed", "cancelled"].map((state) => `status:${state}`);

/** Returns the word at the end of a search, with the spaces of a value whose quotation mark is open; empty after a space. */
function lastWord(text: string): string {
  const quote = text.lastIndexOf('"');
  const key = text
    .slice(0, Math.max(0, quote - 1))
    .split(/[\s"=:]/)
    .at(-1) as string;
  if (quote > 0 && key !== "" && /[=:]/.test(text[quote - 1] as string)) return text.slice(quote - 1 - key.length);
  return text.split(/\s/).at(-1) as string;
}

/**
 * Returns completions of the last word of a search: states, and the keys and values of metadata, the most frequent first.
 * @param rows the loaded rows
 */
export function suggestions(text: string, rows: readonly { metadata?: FreeObject | null }[]): string[] {
  const last = lastWord(text);
  if (last === "") return [];
  const counts = new Map<string, number>();
  for (const { metadata } of rows.slice(0, MAX_ROWS)) {
    for (const [key, value] of metadataPairs(metadata)) {
      if (value === "" || /[\s"=:]/.test(key)) continue;
      const pair = `${key}=${/[\s"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value}`;
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  }
  const pairs = [...counts].sort((a, b) => b[1] - a[1]).map(([pair]) => pair);
  const typed = last.replace(/^([^=:]+):/, "$1=").toLowerCase();
  const found = [
    ...STATES.filter((state) => state.startsWith(last.toLowerCase())),
    ...pairs.filter((pair) => pair.toLowerCase().startsWith(typed)),
  ];
  const before = text.slice(0, text.length - last.length);
  return found.slice(0, MAX_SUGGESTIONS).map((completion) => before + completion);
}
