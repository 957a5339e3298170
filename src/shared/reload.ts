import { ConfigError, readConfig } from "./config.ts";
import type { Environment } from "./configFill.ts";
import { type Config, configKeys } from "./configSchema.ts";
import type { Logger } from "./logger.ts";

/** What a running process cannot change: where it listens and whom it is connected to. */
const FIXED =
  /^(server\.(port|host|maxConnections|concurrency|shutdownSeconds)|mongodb\.|redis\.|dataDir|worker\.(metricsPort|shutdownSeconds))/;

/**
 * Reads the configuration again for a process that runs. One that is not usable is refused: the log says why, and the old
 * one stays. Changes of what only a start can take up are told.
 * @returns the new configuration; null when it was refused
 */
export function rereadConfig(env: Environment, old: Config, log: Logger): Config | null {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ problems: error.problems }, "the changed configuration is refused; the old one stays");
    return null;
  }
  const needRestart = configKeys().flatMap(([key]) =>
    FIXED.test(key) && JSON.stringify(valueAt(config, key)) !== JSON.stringify(valueAt(old, key)) ? [key] : [],
  );
  if (needRestart.length > 0) log.warn({ keys: needRestart }, "these changes take effect with the next start");
  log.level = config.log.level;
  log.info("the configuration was read again");
  return config;
}

const valueAt = (value: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
