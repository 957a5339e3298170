import type { Logger } from "../shared/logger.ts";
import { type Config, configKeys, crossChecks } from "./config.ts";
import type { Environment } from "./fill.ts";
import { ConfigError, configPath, type LoadedConfig, loadConfig } from "./load.ts";

/** The keys that a running process cannot change: its addresses, its connections and its limits. */
const FIXED =
  /^(server\.(port|host|basePath|maxConnections|concurrency|shutdownSeconds)|mongodb\.|redis\.|dataDir|worker\.(metricsPort|shutdownSeconds))/;

/**
 * Reads the configuration again for a running process. An unusable one is refused with its problems in the log. Keys that
 * only a start can change keep their values, and the log names those that differ.
 * @param apply puts the new configuration into effect, and receives the value of its file. The log reports the change once this
 *   is done; if it throws, the previous configuration must still be in effect
 * @returns the configuration that is in effect now, and why it is the previous one
 */
export async function reloadConfig(
  env: Environment,
  old: Config,
  log: Logger,
  apply: (config: Config, written: LoadedConfig["written"]) => void | Promise<void>,
): Promise<{ config: Config; problem?: string }> {
  let changed: readonly string[];
  let config: Config;
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(env);
    const { config: read } = loaded;
    changed = FIXED_KEYS.filter((key) => JSON.stringify(valueAt(read, key)) !== JSON.stringify(valueAt(old, key)));
    config = withValues(read, changed, old);
    // A valid file may conflict with the values that stay: an API without a token, at an address that others can reach.
    const problems = crossChecks(config, []);
    if (problems.length > 0) throw new ConfigError(configPath(env), problems);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.error({ problems: error.problems }, "the changed configuration is invalid; the previous one stays in effect");
    return { config: old, problem: error.message };
  }
  try {
    await apply(config, loaded.written);
  } catch (error) {
    log.error({ err: error }, "the changed configuration cannot be applied; the previous one stays in effect");
    return { config: old, problem: "The changed configuration cannot be applied: the log of the service says why." };
  }
  if (changed.length > 0) log.warn({ keys: changed }, "these keys take effect at the next start");
  log.level = config.log.level;
  log.info("the changed configuration is in effect");
  return { config };
}

type Section = Record<string, unknown>;

const FIXED_KEYS = configKeys().flatMap(([key]) => (FIXED.test(key) ? [key] : []));

function valueAt(config: Config, key: string): unknown {
  return key.split(".").reduce<unknown>((at, name) => (at as Section | undefined)?.[name], config);
}

/** Returns a copy of a configuration with the values of another one under some keys. */
function withValues(config: Config, keys: readonly string[], from: Config): Config {
  const copy: Config = structuredClone(config);
  for (const key of keys) {
    const [name, ...sections] = key.split(".").reverse() as [string, ...string[]];
    const section = sections.reduceRight<unknown>((at, name) => (at as Section)[name], copy) as Section;
    section[name] = valueAt(from, key);
  }
  return copy;
}
