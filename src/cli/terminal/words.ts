import { styleText } from "node:util";
import { cleanJson, cleanText } from "./cleanText.ts";
import type { Format } from "./table.ts";

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** Returns a duration in its largest whole unit, such as `5m`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** Returns the time since `at` by the clock of this machine. */
export const age = (at: string): string => duration(Date.now() - Date.parse(at));

export const percent = (progress: number): string => `${Math.floor(progress)} %`;

const FORMATS: Readonly<Record<string, Format>> = {
  running: "cyan",
  open: "cyan",
  answered: "green",
  queued: "gray",
  pending: "cyan",
  completed: "green",
  sent: "green",
  failed: "red",
  cancelled: "gray",
  dropped: "gray",
  stale: "yellow",
};

/** Returns the format for a state. */
export const formatOf = (state: string): Format => FORMATS[state] ?? "reset";

/** Returns each name and value, without values that are null. Further lines of a value are aligned with its first one. */
export function rowLines(rows: readonly (readonly [name: string, value: string | null])[]): string[] {
  const shown = rows.filter(([, value]) => value !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => {
    const lines = cleanText(value ?? "")
      .trim()
      .split("\n");
    return `${styleText("bold", name.padEnd(width))}  ${lines.join(`\n${" ".repeat(width + 2)}`)}`;
  });
}

/** Returns a heading followed by a value: a text with its lines, anything else as JSON. Returns no lines without a value. */
export const section = (heading: string, value: unknown): string[] =>
  value === null || value === undefined
    ? []
    : ["", styleText("bold", heading), typeof value === "string" ? cleanText(value) : cleanJson(value, 2)];

/** Prints a record as one line of JSON, or as lines for people. */
export const printRecord = ({ json }: { readonly json?: boolean }, record: unknown, lines: readonly string[]): void =>
  print(json ? [cleanJson(record)] : lines);

export const print = (lines: readonly string[]): void => {
  if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
};
