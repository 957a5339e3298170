import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";

/**
 * The tests of this folder compare what users, operators and earlier versions rely on with JSON files in `recorded/`.
 * After an intended change, `RECORD=1 npx mocha 'test/frozen/*.test.ts'` writes these files again; review their diff.
 */
const isRecording = Boolean(process.env.RECORD);

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Compares a value with `recorded/<name>.json`, and lists every path where they differ. @throws AssertionError */
export function expectRecorded(name: string, value: unknown): void {
  const file = new URL(`recorded/${name}.json`, import.meta.url);
  const actual = sortKeys(JSON.parse(JSON.stringify(value)));
  if (isRecording) writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`);
  const recorded: Json = JSON.parse(readFileSync(file, "utf8"));

  const differences = differencesOf(leavesOf(recorded), leavesOf(actual));
  if (differences.length === 0) return;
  const list = differences.join("\n");
  expect.fail(`recorded/${name}.json (-) differs from the code (+); where that is meant, run with RECORD=1:\n${list}`);
}

/** Sorts the keys of objects, so that the order in which code adds them does not count. */
function sortKeys(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(sortKeys);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

function differencesOf(recorded: ReadonlyMap<string, string>, actual: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...recorded.keys(), ...actual.keys()])].sort();
  return paths.flatMap((path) => {
    const [before, after] = [recorded.get(path), actual.get(path)];
    if (before === after) return [];
    return [
      ...(before === undefined ? [] : [`- ${path}: ${before}`]),
      ...(after === undefined ? [] : [`+ ${path}: ${after}`]),
    ];
  });
}

/** Returns the values that have no parts worth a line of their own, by their paths. */
function leavesOf(value: Json, path = ""): Map<string, string> {
  const parts = partsOf(value);
  if (parts.length === 0) return new Map([[path, JSON.stringify(value)]]);
  return new Map(parts.flatMap(([part, item]) => [...leavesOf(item, path ? `${path} › ${part}` : part)]));
}

function partsOf(value: Json): (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null) return [];
  if (!isArray(value)) return Object.entries(value);
  if (!value.some((item) => typeof item === "object" && item !== null)) return [];
  // Items are compared by their names where they have such: one more item moves no other.
  const names = value.map((item) => (item as { readonly name?: Json } | null)?.name);
  const areNamed = names.every((name) => typeof name === "string") && new Set(names).size === names.length;
  return value.map((item, i) => [areNamed ? String(names[i]) : `[${i}]`, item]);
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);
