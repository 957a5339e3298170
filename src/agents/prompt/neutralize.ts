import { CAPITAL_TOKEN, FULL_WIDTH_TOKEN, TOKEN } from "./controlTokens.ts";
import { BREAK, MARKER, replaceSymbols } from "./markerPattern.ts";
import {
  COMMON_ROLE_LINE,
  QUOTED_ROLE_LINE,
  ROLE_HEADING,
  ROLE_LINE,
  SECTION_HEADING,
  SECTION_LINE,
} from "./roleLines.ts";
import { type Skeleton, toSkeleton } from "./skeleton.ts";

/**
 * Breaks up everything in an untrusted text that could be mistaken for a boundary marker or a chat control token, by a
 * visible `※` in its middle: `END_※UNTRUSTED_CONTENT`, `<※|im_start|>`, `[※/INST]`, `Human※:`. Only these signs are added
 * and nothing is removed or replaced. A second call adds no further signs. Takes time linear in the length of the text.
 */
export const neutralize = (text: string): string => breakAt(text, findMarkersAndTokens);

/**
 * Breaks up the lines of a text that read as the heading of a role: `# ※System`, `**※User**`. Like `neutralize`, it only adds
 * signs.
 */
export const breakRoleHeadings = (text: string): string => breakAt(text, findHeadings);

/** Inserts a sign at each index that `find` yields. Tag characters are tried both dropped and read as letters. */
function breakAt(text: string, find: (skeleton: Skeleton, text: string) => Iterable<number>): string {
  const breaks = new Set(find(toSkeleton(text, "dropped"), text));
  if (text.includes("\u{db40}")) for (const at of find(toSkeleton(text, "read"), text)) breaks.add(at);
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

function* findMarkersAndTokens({ text: cased, at }: Skeleton, original: string): Iterable<number> {
  const lower = cased.toLowerCase();
  for (const { index } of matches(lower, MARKER)) yield at(index);
  const read = replaceSymbols(lower);
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

function* findHeadings({ text, at }: Skeleton): Iterable<number> {
  for (const match of matches(text.toLowerCase(), ROLE_HEADING)) {
    const role = match[1] ?? match[2] ?? match[3] ?? "";
    yield at(endOf(match) - role.length);
  }
}

/**
 * Returns whether a line opens a turn and is no key: it has a capital letter, a script without capitals, or is not indented and
 * has words after its colon.
 * @param start the match, in its original case
 * @param rest the text from the colon on
 */
const isRole = (start: string, rest: string): boolean =>
  /[A-Z\p{Lo}]/u.test(start) || (/^[>#*_]{0,8} ?[a-z]/.test(start) && /^:[ \t\u00a0]+[^\s"'{[\d]/.test(rest));

const endOf = (match: RegExpExecArray): number => match.index + match[0].length;

/** Like `matchAll`, for patterns that never match the empty text. `matchAll` itself copies the pattern at each call. */
function* matches(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match;
}
