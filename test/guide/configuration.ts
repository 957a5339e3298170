import JSON5 from "json5";
import { parseConfig } from "../../src/shared/config/load.ts";
import { ConfigSchema } from "../../src/shared/config/schema/config.ts";

export type Settings = Record<string, Record<string, unknown>>;

/** The channels whose address is `apiUrl`. */
const WITH_API_URL = ["telegram", "slack", "discord"];

/**
 * Reads a configuration as a page shows it: a whole file, some of its sections without the outer braces, or one mapping.
 * @throws Error if it is none of these
 */
export function asConfiguration(code: string): Settings {
  const value = JSON5.parse(/^(\s|\/\/.*\n)*\{/.test(code) ? code : `{${code}}`);
  const settings = "match" in value ? { hooks: { mappings: [value] } } : value;
  const unknown = Object.keys(settings).filter((key) => !(key in ConfigSchema.properties));
  if (unknown.length > 0) throw new Error(`${unknown} is no section: write whole sections, or add no-run to the fence`);
  return settings;
}

/** Checks a configuration as `config check` does. @throws ConfigError */
export function checkConfiguration(settings: Settings, env: Record<string, string>): void {
  parseConfig(JSON.stringify(withHooks(settings)), env);
}

/** Returns a configuration with the addresses of a test's servers. */
export function withServers(
  settings: Settings,
  to: { port: number; chatUrl: string; mongodb: string; redis: string; prefix: string },
): Settings {
  const channels = Object.entries(settings.channels ?? {}).map(([name, channel]) => [
    name,
    WITH_API_URL.includes(name) ? { ...(channel as object), apiUrl: to.chatUrl } : channel,
  ]);
  return {
    ...withHooks(settings),
    server: { host: "127.0.0.1", port: to.port },
    mongodb: { uri: to.mongodb },
    redis: { url: to.redis, prefix: to.prefix },
    ...(channels.length > 0 && { channels: Object.fromEntries(channels) }),
  };
}

/** Adds what pages leave out around mappings: hooks are on and have a token. */
const withHooks = (settings: Settings): Settings =>
  settings.hooks?.mappings
    ? { ...settings, hooks: { enabled: true, token: "a-hook-token-of-the-reader", ...settings.hooks } }
    : settings;
