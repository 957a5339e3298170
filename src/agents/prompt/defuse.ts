import { CAPITAL_TOKEN, FULL_WIDTH_TOKEN, TOKEN } from "./controlTokens.ts";
import { type Folded, fold } from "./fold.ts";
import { BREAK, MARKER, readSigns } from "./lookAlikes.ts";
import {
  COMMON_ROLE_LINE,
  isRole,
  QUOTED_ROLE_LINE,
  ROLE_HEADING,
  ROLE_LINE,
  SECTION_HEADING,
  SECTION_LINE,
} from "./roleLines.ts";

/**
 * Breaks whatever in an untrusted text could pass for one of our boundary markers or for a chat control token, by a
 * visible `※` in its middle: `END_※UNTRUSTED_CONTENT`, `<※|im_start|>`, `[※/INST]`, `Human※:`. Nothing else is added,
 * nothing is taken out or replaced: without the signs it added the text is what it was, and a second call adds none.
 * Works in time linear in the text's length.
 */
export const defuse = (text: string): string => breakAt(text, findLookAlikes);

/**
 * Breaks the lines of a text that read as a heading of a role: `# ※System`, `**※User**`. As `defuse`, it adds its sign and
 * changes nothing else.
 */
export const breakRoleHeadings = (text: string): string => breakAt(text, findHeadings);

/** Puts a sign where `find` says; the invisible twins of ASCII are read both ways. */
function breakAt(text: string, find: (folded: Folded, text: string) => Iterable<number>): string {
  const breaks = new Set(find(fold(text, "dropped"), text));
  if (text.includes("\u{db40}")) for (const at of find(fold(text, "read"), text)) breaks.add(at);
  if (breaks.size === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const at of [...breaks].sort((a, b) => a - b)) {
    parts.push(text.slice(from, at));
    from = at;
  }
  parts.push(text.slice(from));
  return parts.join(BREAK);
}

function* findLookAlikes({ text: cased, at }: Folded, original: string): Iterable<number> {
  const lower = cased.toLowerCase();
  for (const { index } of matches(lower, MARKER)) yield at(index);
  const read = readSigns(lower);
  if (read !== lower) for (const { index } of matches(read, MARKER)) yield at(index);
  for (const { index } of matches(lower, TOKEN)) yield at(index + 1);
  for (const { index } of matches(cased, CAPITAL_TOKEN)) yield at(index + 1);
  for (const { index } of matches(original, FULL_WIDTH_TOKEN)) yield index + 1;
  for (const pattern of [ROLE_LINE, SECTION_LINE, SECTION_HEADING]) {
    for (const match of matches(lower, pattern)) yield at(endOf(match));
  }
  for (const match of matches(lower, COMMON_ROLE_LINE)) {
    const end = endOf(match);
    if (isRole(cased.slice(match.index, end), cased.slice(end, end + 16))) yield at(end);
  }
  for (const match of matches(lower, QUOTED_ROLE_LINE)) {
    const end = endOf(match);
    if (/[A-Z]/.test(cased.slice(match.index, end))) yield at(end);
  }
}

function* findHeadings({ text, at }: Folded): Iterable<number> {
  for (const match of matches(text.toLowerCase(), ROLE_HEADING)) {
    const role = match[1] ?? match[2] ?? match[3] ?? "";
    yield at(endOf(match) - role.length);
  }
}

const endOf = (match: RegExpExecArray): number => match.index + match[0].length;

/** What `matchAll` gives of a pattern that never fits nothing; that one makes the pattern anew each time, in 60 µs. */
function* matches(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match;
}
