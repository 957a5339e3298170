import { excerpt } from "./http.ts";

/** So many letters and digits in a row are no coincidence. */
const RUN = 12;

/**
 * A service's own words for a reason, where none of the secrets is in them: neither a password nor the text of a message, not
 * even a piece of it. BlueBubbles quotes the command that failed, with the message, and quotes it as a shell wants it: so
 * letters and digits are compared alone.
 * @returns nothing where there are no words, or none that can be shown
 */
export function wordsWithout(words: unknown, ...secrets: readonly string[]): string {
  const shown = typeof words === "string" ? excerpt(words) : "";
  return secrets.some((secret) => holds(shown, secret)) ? "" : shown;
}

/**
 * The same of words about a recipient: what they are called by is left out, and where they are called otherwise by it, as a
 * number in another way of writing, all words are.
 * @param names longer ones that hold others first
 */
export function wordsAbout(names: readonly string[], words: unknown, ...secrets: readonly string[]): string {
  const known = names.filter((name) => name.trim() !== "");
  const said = typeof words === "string" ? known.reduce((text, name) => text.replaceAll(name, "…"), words) : words;
  return wordsWithout(said, ...secrets, ...known);
}

function holds(words: string, secret: string): boolean {
  if (secret.trim() !== "" && words.includes(secret.trim())) return true;
  const said = bare(words);
  const kept = bare(secret);
  if (kept.length <= RUN) return kept !== "" && said.includes(kept);
  for (let at = 0; at + RUN <= said.length; at += 1) if (kept.includes(said.slice(at, at + RUN))) return true;
  return false;
}

const bare = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
