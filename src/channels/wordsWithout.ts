import { inWords } from "./http.ts";

/** So many letters and digits in a row are no coincidence. */
const RUN = 12;

/**
 * A service's own words for a reason, where none of the secrets is in them: neither a password nor the text of a message, not
 * even a piece of it. BlueBubbles quotes the command that failed, with the message, and quotes it as a shell wants it: so
 * letters and digits are compared alone.
 * @returns nothing where there are no words, or none that can be shown
 */
export function wordsWithout(words: unknown, ...secrets: readonly string[]): string {
  const shown = typeof words === "string" ? inWords(words) : "";
  return secrets.some((secret) => holds(shown, secret)) ? "" : shown;
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
