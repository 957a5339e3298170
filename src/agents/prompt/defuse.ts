import { fold } from "./fold.ts";
import { BREAK, MARKER, ROLE_LINE, TOKEN } from "./lookAlikes.ts";

/**
 * Breaks whatever in an untrusted text could pass for one of our boundary markers or for a chat control token, by a
 * visible `※` in its middle: `END_※UNTRUSTED_CONTENT`, `<※|im_start|>`, `[※/INST]`, `Human※:`. Nothing else is added,
 * nothing is taken out or replaced: without the signs it added the text is what it was, and a second call adds none.
 * Works in time linear in the text's length.
 */
export function defuse(text: string): string {
  const breaks = findBreaks(text, "dropped");
  if (text.includes("\u{db40}")) for (const at of findBreaks(text, "read")) breaks.add(at);
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

/** Where in the text a sign goes. */
function findBreaks(text: string, tags: "dropped" | "read"): Set<number> {
  const folded = fold(text, tags);
  const breaks = new Set<number>();
  for (const match of matches(folded.text, MARKER)) breaks.add(folded.at(match.index));
  for (const match of matches(folded.text, TOKEN)) breaks.add(folded.at(match.index + 1));
  for (const match of matches(folded.text, ROLE_LINE)) breaks.add(folded.at(match.index + match[0].length));
  return breaks;
}

/** What `matchAll` gives of a pattern that never fits nothing; that one makes the pattern anew each time, in 60 µs. */
function* matches(text: string, pattern: RegExp): Generator<RegExpExecArray> {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield match;
}
