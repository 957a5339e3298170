import { configFile, parseFile, readConfig } from "../../shared/config.ts";
import { readSettings } from "../firstUse.ts";
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
 * `config show`: the configuration as `start` takes it, as JSON, without its secrets.
 * @throws ConfigError naming every problem
 */
export function showConfig(env: NodeJS.ProcessEnv): void {
  const file = configFile(env);
  const { config } = readSettings(env, { makeToken: false });
  console.log(JSON.stringify(redactConfig(config, file && parseFile(file.text, file.path)), null, 2));
}
