import { excerpt } from "./http.ts";

/** Number of consecutive letters and digits in common that counts as a quoted secret; shorter ones may be a coincidence. */
const MIN_LEAK_LENGTH = 12;

/**
 * Returns a service's text for use in a reason, or "" if the text contains a secret or a piece of one. Secrets are passwords
 * and message texts. Only letters and digits are compared: BlueBubbles quotes the failed command, with the message escaped
 * for the shell.
 */
export function redact(words: unknown, ...secrets: readonly string[]): string {
  const shown = typeof words === "string" ? excerpt(words) : "";
  return secrets.some((secret) => leaks(shown, secret)) ? "" : shown;
}

/**
 * Like `redact`, but also replaces the recipient's names with "…". Returns "" if a name still occurs in another notation,
 * such as a number written with spaces.
 * @param names in an order in which a name comes before the names it contains
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
