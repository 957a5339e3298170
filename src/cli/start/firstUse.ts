import { resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { configFile, GENERATED_HOOKS_TOKEN, readConfig } from "../../config/load.ts";
import { readOrCreateToken } from "./savedToken.ts";

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
