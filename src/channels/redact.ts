import { excerpt } from "./http.ts";

/** So many letters and digits in a row are no coincidence. */
const MIN_LEAK_LENGTH = 12;

/**
 * A service's own words for a reason, where none of the secrets is in them: neither a password nor the text of a message, not
 * even a piece of it. BlueBubbles quotes the command that failed, with the message, and quotes it as a shell wants it: so
 * letters and digits are compared alone.
 * @returns nothing where there are no words, or none that can be shown
 */
export function redact(words: unknown, ...secrets: readonly string[]): string {
  const shown = typeof words === "string" ? excerpt(words) : "";
  return secrets.some((secret) => leaks(shown, secret)) ? "" : shown;
}

/**
 * The same of words about a recipient: what they are called by is left out, and where they are called otherwise by it, as a
 * number in another way of writing, all words are.
 * @param names longer ones that hold others first
 */
export function redactWithNames(names: readonly string[], words: unknown, ...secrets: readonly string[]): string {
  const recipientNames = names.filter((name) => name.trim() !== "");
  const redacted =
    typeof words === "string" ? recipientNames.reduce((text, name) => text.replaceAll(name, "…"), words) : words;
  return redact(redacted, ...secrets, ...recipientNames);
}

function leaks(words: string, secret: string): boolean {
  if (secret.trim() !== "" && words.includes(secret.trim())) return true;
  const redacted = lettersAndDigits(words);
  const secretLetters = lettersAndDigits(secret);
  if (secretLetters.length <= MIN_LEAK_LENGTH) return secretLetters !== "" && redacted.includes(secretLetters);
  for (let at = 0; at + MIN_LEAK_LENGTH <= redacted.length; at += 1)
    if (secretLetters.includes(redacted.slice(at, at + MIN_LEAK_LENGTH))) return true;
  return false;
}

const lettersAndDigits = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
