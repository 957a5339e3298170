import { parseEnv } from "node:util";
import { StartError } from "../shared/process/lifecycle.ts";
import { readTextFile } from "../shared/text/textFile.ts";

/**
 * Adds the variables of a file `.env` in the working directory to the environment, whose own variables take precedence. The
 * file may be absent.
 * @throws StartError when it cannot be read
 */
export function loadDotEnv(env: NodeJS.ProcessEnv): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(readTextFile(".env")))) env[name] ??= value;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new StartError(`The file .env cannot be read (${code}): correct or remove it.`);
  }
}
