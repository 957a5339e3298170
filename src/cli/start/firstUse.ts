import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configFile, GENERATED_HOOKS_TOKEN, readConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { makePrivateDir, writePrivateFile } from "../configFile/privateFile.ts";

export interface Settings {
  readonly config: Config;
  /** What says the same to the processes that are started. */
  readonly env: NodeJS.ProcessEnv;
  /** The hook token, when it is the one that was made here and not one that somebody has set. */
  readonly madeToken: string | undefined;
}

/**
 * The configuration as `start` takes it. Where there is no configuration file and no variable turns the hooks on or off,
 * they are on; where no variable sets their token either, it is one made at the first start and kept in the data
 * directory.
 * @param makeToken false to leave the data directory alone: something stands in the token's place
 * @throws ConfigError
 * @throws StartError when the data directory cannot hold the token
 */
export function readSettings(env: NodeJS.ProcessEnv, { makeToken = true } = {}): Settings {
  const config = readConfig(env);
  if (configFile(env) || env.SIGNALBOX_HOOKS_ENABLED) return { config, env, madeToken: undefined };
  const kept = () => (makeToken ? keptToken(resolve(config.dataDir)) : NOT_LOOKED_UP);
  const madeToken = config.hooks.token ? undefined : kept();
  const withHooks = {
    ...env,
    ...(madeToken ? { [GENERATED_HOOKS_TOKEN]: madeToken } : { SIGNALBOX_HOOKS_ENABLED: "true" }),
  };
  return { config: readConfig(withHooks), env: withHooks, madeToken };
}

const NOT_LOOKED_UP = "the-token-of-the-data-directory";

const tokenPath = (dataDir: string) => join(dataDir, "hooks-token");

/** The token that an earlier start has made; undefined when there was none. @throws StartError when it cannot be read */
export const findKeptToken = (dataDir: string): string | undefined =>
  existsSync(tokenPath(dataDir)) ? keptToken(dataDir) : undefined;

/** The token that the data directory keeps; made when there is none. */
function keptToken(dataDir: string): string {
  const path = tokenPath(dataDir);
  let token: string;
  try {
    if (!existsSync(path)) {
      makePrivateDir(dataDir);
      writePrivateFile(path, `${newSecret()}\n`, { replace: false }); // false: another start was quicker
    }
    token = readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The data directory ${dataDir} cannot be used (${code}): make it writable, or name another in SIGNALBOX_DATA_DIR.`,
    );
  }
  if (/^\S{16,}$/.test(token)) return token;
  throw new StartError(`${path} holds no token of 16 characters or more: remove it, and a new one is made.`);
}

/** A secret that nobody can guess, of characters that need no quoting anywhere. */
export const newSecret = (): string => randomBytes(24).toString("base64url");
