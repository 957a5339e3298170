import { resolve } from "node:path";
import JSON5 from "json5";
import { ConfigSchema } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";

export type Settings = Record<string, Record<string, unknown>>;

/** The databases of a service, and the prefix of its keys in Redis. */
export interface Stores {
  readonly mongodb: string;
  readonly redis: string;
  readonly prefix: string;
}

/** The key with the address of each channel that the pages send to. */
const WITH_ADDRESS: Readonly<Record<string, string>> = {
  telegram: "apiUrl",
  slack: "apiUrl",
  discord: "apiUrl",
  ntfy: "baseUrl",
};

/**
 * Reads a configuration as a page shows it: a whole file, some of its sections without the outer braces, one mapping, or
 * the settings of the runner `command`.
 * @throws Error if it is none of these
 */
export function asConfiguration(code: string): Settings {
  const isObject = /^(\s|\/\/.*\n)*\{/.test(code);
  const [value = {}] = JSON5.parse(isObject ? `[${code}]` : `[{${code}}]`);
  const settings = inPlace(value);
  const unknown = Object.keys(settings).filter((key) => !(key in ConfigSchema.properties));
  if (unknown.length > 0) throw new Error(`${unknown} is no section: write whole sections, or add no-run to the fence`);
  return settings;
}

/** Returns the sections around a mapping or a runner. */
function inPlace(value: Record<string, unknown>): Settings {
  if ("match" in value) return { hooks: { transformsDir: resolve("examples/transforms"), mappings: [value] } };
  if ("command" in value) return { agents: { defaults: { runner: "command", model: "large" }, runners: value } };
  return value as Settings;
}

/** Checks a configuration as `config check` does. @throws ConfigError */
export function checkConfiguration(settings: Settings, env: Record<string, string>, path: string): void {
  parseConfig(JSON.stringify(withHooks(settings)), env, path);
}

/** Returns a configuration with the addresses of a test's servers. */
export function withServers(
  settings: Settings,
  to: { port: number; chatUrl: string; stores: Stores | undefined },
): Settings {
  const channels = Object.entries(settings.channels ?? {}).map(([name, channel]) => [
    name,
    WITH_ADDRESS[name] ? { ...(channel as object), [WITH_ADDRESS[name]]: to.chatUrl } : channel,
  ]);
  const { tokens, apiToken } = settings.server ?? {};
  const publicUrl = settings.server?.publicUrl !== undefined && { publicUrl: settings.server.publicUrl };
  return {
    ...withHooks(settings),
    server: { ...publicUrl, ...(tokens !== undefined && { tokens, apiToken }), host: "127.0.0.1", port: to.port },
    ...(to.stores && {
      mongodb: { uri: to.stores.mongodb },
      redis: { url: to.stores.redis, prefix: to.stores.prefix },
    }),
    ...(channels.length > 0 && { channels: Object.fromEntries(channels) }),
  };
}

/** Adds what pages leave out around mappings: hooks are on and have a token. */
const withHooks = (settings: Settings): Settings =>
  settings.hooks?.mappings
    ? { ...settings, hooks: { enabled: true, token: "a-hook-token-of-the-reader", ...settings.hooks } }
    : settings;
