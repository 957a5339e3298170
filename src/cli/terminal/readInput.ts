import { readFileSync } from "node:fs";
import { isObject, parseJson } from "../../shared/json.ts";
import { StartError } from "../../shared/lifecycle.ts";

/** The descriptor of standard input; a command that runs inside another program has one of its own. */
export const standardInput = { fd: 0 };

/**
 * What a file holds, or for `-` standard input.
 * @throws StartError when it cannot be read
 */
export function readInput(file: string, what: string): string {
  try {
    return readFileSync(file === "-" ? standardInput.fd : file, "utf8");
  } catch (error) {
    throw new StartError(
      `${what} cannot be read from ${file === "-" ? "standard input" : file} (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

/**
 * The JSON object that a file, or standard input, holds, as the service reads it, and its text as it is.
 * @throws StartError when it holds none
 */
export function readJsonObject(file: string): { readonly text: string; readonly value: Record<string, unknown> } {
  const text = readInput(file, "The body");
  try {
    const value = parseJson(text);
    if (isObject(value)) return { text, value };
  } catch {
    // said below
  }
  throw new StartError(`${file === "-" ? "Standard input" : file} does not hold a JSON object.`);
}
