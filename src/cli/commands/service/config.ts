import type { Config } from "../../../config/config.ts";
import { configFile, parseFile, readConfig } from "../../../config/load.ts";
import { redactConfig } from "../../../config/redact.ts";
import { readSettings } from "../../start/firstUse.ts";

/**
 * `config check`: prints whether the configuration is valid, and each reference to a channel that is not configured.
 * @throws ConfigError with all problems
 */
export function checkConfig(env: NodeJS.ProcessEnv): void {
  const file = configFile(env);
  const config = readConfig(env);
  console.log(`The configuration (${file?.path ?? "environment and defaults, without a file"}) is valid.`);
  for (const { key, channel } of unconfigured(config)) {
    console.log(
      `  - ${key} is ${channel}, which is not configured: replies to it fail until channels.${channel} is set`,
    );
  }
}

function unconfigured({ hooks, session, channels }: Config): { key: string; channel: string }[] {
  const delivering = hooks.mappings.map(({ action, deliver, channel }, i) => {
    return { key: `hooks.mappings[${i}].channel`, channel: action === "agent" && deliver ? channel : "last" };
  });
  const named = [{ key: "session.main.channel", channel: session.main?.channel ?? "last" }, ...delivering];
  return named.filter(({ channel }) => channel !== "last" && !Object.hasOwn(channels, channel));
}

/**
 * `config show`: prints the configuration that `start` uses as JSON, without secrets.
 * @throws ConfigError with all problems
 */
export function showConfig(env: NodeJS.ProcessEnv): void {
  const file = configFile(env);
  const { config } = readSettings(env, { createToken: false });
  console.log(JSON.stringify(redactConfig(config, file && parseFile(file.text, file.path)), null, 2));
}
