import { readFileSync } from "node:fs";
import { StartError } from "../../shared/process/lifecycle.ts";
import { isObject, parseJson } from "../../shared/text/json.ts";
import { decodeText } from "../../shared/text/textFile.ts";

/** The descriptor of standard input. A command that runs inside another program, such as a test, replaces it. */
export const standardInput = { fd: 0 };

interface Input {
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Returns the content of a file, or of standard input for `-`, as text in any encoding that `decodeText` reads.
 * @param what names the content in the error
 * @throws StartError if it cannot be read
 */
export const readInput = (file: string, what: string): string => read(file, what).text;

function read(file: string, what: string): Input {
  try {
    const bytes = readFileSync(file === "-" ? standardInput.fd : file);
    return { bytes, text: decodeText(bytes) };
  } catch (error) {
    throw new StartError(`${what} cannot be read from ${nameOf(file)} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

const nameOf = (file: string): string => (file === "-" ? "standard input" : file);

interface JsonInput {
  /** The bytes of the input; converted to UTF-8, the only encoding of a request, if it is in UTF-16. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The value, parsed as the service does. */
  readonly value: Record<string, unknown> | readonly unknown[];
}

/**
 * Reads the body of a mapped hook, a JSON object or array, from a file or standard input.
 * @throws StartError if it contains anything else
 */
export function readJsonBody(file: string): JsonInput {
  const { bytes, text } = read(file, "The body");
  try {
    const value = parseJson(text);
    if (isObject(value) || Array.isArray(value))
      return { bytes: Uint8Array.from(isUtf16(bytes) ? Buffer.from(text) : bytes), value };
  } catch {
    // The error below covers this case too.
  }
  throw new StartError(`The body in ${nameOf(file)} is not a JSON object or array.`);
}

const isUtf16 = (bytes: Buffer): boolean => /^(fffe|feff)/.test(bytes.toString("hex", 0, 2));
