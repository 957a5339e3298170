import { configFile, readConfig } from "../../shared/config.ts";
import { redactConfig } from "../redact.ts";

/**
 * `config check`: says that the configuration is usable.
 * @throws ConfigError naming every problem
 */
export function checkConfig(env: NodeJS.ProcessEnv): void {
  const file = configFile(env);
  readConfig(env);
  console.log(`The configuration (${file?.path ?? "environment and defaults; there is no file"}) is usable.`);
}

/**
 * `config show`: the configuration as it takes effect, as JSON, without its secrets.
 * @throws ConfigError naming every problem
 */
export function showConfig(env: NodeJS.ProcessEnv): void {
  console.log(JSON.stringify(redactConfig(readConfig(env)), null, 2));
}
