import { readFileSync } from "node:fs";
import { isObject, parseJson } from "../../shared/json.ts";
import { StartError } from "../../shared/lifecycle.ts";

/** The descriptor of standard input. A command that runs inside another program, such as a test, replaces it. */
export const standardInput = { fd: 0 };

/**
 * Returns the content of a file, or of standard input for `-`.
 * @param what names the content in the error
 * @throws StartError if it cannot be read
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
 * Returns the JSON object in a file or standard input, parsed as the service does, and the unchanged text.
 * @throws StartError if it does not contain a JSON object
 */
export function readJsonObject(file: string): { readonly text: string; readonly value: Record<string, unknown> } {
  const text = readInput(file, "The body");
  try {
    const value = parseJson(text);
    if (isObject(value)) return { text, value };
  } catch {
    // The error below covers this case too.
  }
  throw new StartError(`${file === "-" ? "Standard input" : file} does not hold a JSON object.`);
}
