import { sanitizeText } from "../text/sanitizeText.ts";
import type { GateAction, ShownData } from "./subjects.ts";

/** Maximum characters of a message of a job or an error in a text. */
const MAX_QUOTED_LENGTH = 1_000;

const DECISIONS: Readonly<Record<GateAction, string>> = {
  accept: "accepted",
  decline: "declined",
  cancel: "dismissed",
};

/** Escapes what Markdown would read as markup. Source: CommonMark, backslash escapes. */
export const escapeMarkdown = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, "\\$&");

/** Returns a text of somebody else in bold, on one line. */
export const strong = (text: string): string => `**${escapeMarkdown(text.replace(/\s+/g, " ").trim())}**`;

/** Returns a text of somebody else as a paragraph; none if it is empty. */
export function quote(text: string | null | undefined): string[] {
  const clean = sanitizeText(text ?? "").trim();
  if (clean === "") return [];
  const cut = clean.length > MAX_QUOTED_LENGTH ? `${clean.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : clean;
  return [escapeMarkdown(cut)];
}

/** Returns links as a paragraph; none without links. */
export function linked(links: ShownData["job"]["links"]): string[] {
  const all = links.map(({ title, url }) => {
    const address = url.replace(/[<>\\]/g, encodeURIComponent);
    return `[${escapeMarkdown(title.replace(/\s+/g, " ").trim())}](<${address}>)`;
  });
  return all.length === 0 ? [] : [all.join(" · ")];
}

/** Returns the lines of a log as a block of code; none without lines. */
export function logBlock(lines: readonly string[] = []): string[] {
  const clean = lines.map((line) => sanitizeText(line).replaceAll("\n", " "));
  if (clean.every((line) => line.trim() === "")) return [];
  const runs = clean.join("\n").match(/`+/g) ?? [];
  const longest = Math.max(2, ...runs.map((run) => run.length));
  const mark = "`".repeat(longest + 1);
  return [`${mark}\n${clean.join("\n")}\n${mark}`];
}

/** Returns an ISO 8601 time as people read it, to the minute. */
export const moment = (time: string): string => `${time.slice(0, 16).replace("T", " ")} UTC`;

/** Returns how long after the creation of a job something happened, after a space; empty for less than a second. */
export function after(createdAt: string, at: Date): string {
  const ms = at.getTime() - Date.parse(createdAt);
  return ms >= 500 ? ` after ${span(ms)}` : "";
}

/** Returns a number of milliseconds as people read it, in one unit. */
export function span(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const [unit, size] =
    seconds < 120 ? ["s", 1] : seconds < 7_200 ? ["min", 60] : seconds < 172_800 ? ["h", 3_600] : ["d", 86_400];
  return `${Math.round(seconds / (size as number))} ${unit}`;
}

/** Returns what an action decides about a question. */
export const decided = (action: GateAction | null): string => DECISIONS[action ?? "decline"];

/** Returns the paragraph about what happens to a question without an answer; none if it never expires. */
export const withoutAnswer = ({ expiresAt, onExpiry }: ShownData["gate"]): string[] =>
  expiresAt
    ? [`Answer before ${moment(expiresAt)}. Without an answer by then, it counts as ${decided(onExpiry)}.`]
    : [];
