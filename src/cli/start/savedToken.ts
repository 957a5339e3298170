import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../shared/process/lifecycle.ts";
import { readTextFile } from "../../shared/text/textFile.ts";
import { makePrivateDir, writePrivateFile } from "../configFile/privateFile.ts";

const tokenPath = (dataDir: string) => join(dataDir, "hooks-token");

/** Returns the token that an earlier start generated, if there is one. @throws StartError if it cannot be read */
export const findSavedToken = (dataDir: string): string | undefined =>
  existsSync(tokenPath(dataDir)) ? readOrCreateToken(dataDir) : undefined;

/** Returns the token in the data directory, and generates one if there is none. */
export function readOrCreateToken(dataDir: string): string {
  const path = tokenPath(dataDir);
  let token: string;
  try {
    if (!existsSync(path)) {
      makePrivateDir(dataDir);
      writePrivateFile(path, `${generateSecret()}\n`, { replace: false }); // a token of a concurrent start wins
    }
    token = readTextFile(path).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The data directory ${dataDir} cannot be used (${code}): make it writable, or set SIGNALBOX_DATA_DIR to another one.`,
    );
  }
  if (/^\S{16,}$/.test(token)) return token;
  throw new StartError(
    `${path} does not contain a token of at least 16 characters: remove the file, and the next start generates a token.`,
  );
}

/** Returns a random secret of 192 bits, in characters that need no quoting anywhere. */
export const generateSecret = (): string => randomBytes(24).toString("base64url");
