import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { configFile, GENERATED_HOOKS_TOKEN, readConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { readTextFile } from "../../shared/text/textFile.ts";
import { makePrivateDir, writePrivateFile } from "../configFile/privateFile.ts";

export interface Settings {
  readonly config: Config;
  /** The environment that gives child processes the same configuration. */
  readonly env: NodeJS.ProcessEnv;
  /** The hook token if it was generated here; undefined if the operator configured one. */
  readonly generatedToken: string | undefined;
}

/**
 * Reads the configuration for `start`. Hooks are enabled by default if there is no configuration file. Their token, unless a
 * variable sets it, is generated at the first start and stored in the data directory.
 * @param createToken false to use a placeholder for the token, without access to the data directory
 * @throws ConfigError
 * @throws StartError if the token cannot be read from or written to the data directory
 */
export function readSettings(env: NodeJS.ProcessEnv, { createToken = true } = {}): Settings {
  const config = readConfig(env);
  if (configFile(env) || env.SIGNALBOX_HOOKS_ENABLED) return { config, env, generatedToken: undefined };
  const token = () => (createToken ? readOrCreateToken(resolve(config.dataDir)) : PLACEHOLDER_TOKEN);
  const generatedToken = config.hooks.token ? undefined : token();
  const withHooks = {
    ...env,
    ...(generatedToken ? { [GENERATED_HOOKS_TOKEN]: generatedToken } : { SIGNALBOX_HOOKS_ENABLED: "true" }),
  };
  return { config: readConfig(withHooks), env: withHooks, generatedToken };
}

const PLACEHOLDER_TOKEN = "the-token-of-the-data-directory";

const tokenPath = (dataDir: string) => join(dataDir, "hooks-token");

/** Returns the token that an earlier start generated, if there is one. @throws StartError if it cannot be read */
export const findSavedToken = (dataDir: string): string | undefined =>
  existsSync(tokenPath(dataDir)) ? readOrCreateToken(dataDir) : undefined;

/** Returns the token in the data directory, and generates one if there is none. */
function readOrCreateToken(dataDir: string): string {
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
