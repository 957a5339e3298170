import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { firstToken } from "../config/access/tokenList.ts";
import type { Config } from "../config/config.ts";
import { localUrl } from "../shared/address.ts";
import { CommandError, EXIT } from "./exit.ts";
import { findRunningInstance } from "./start/dataDirectoryLock.ts";
import { findSavedToken } from "./start/savedToken.ts";

export interface ServiceOptions {
  /** The address of the service. Defaults to that of this folder's service; see `findAccess`. */
  readonly url?: string | undefined;
  /** The base path of its hooks, if it is not the service of this folder. */
  readonly hooksPath?: string | undefined;
}

/** The address of the service and the tokens for it. */
export interface ServiceAccess {
  readonly url: string;
  readonly apiToken: string | undefined;
  readonly hookToken: string | undefined;
  readonly hooksPath: string;
  /** Returns a text for people on where a token can be set. */
  readonly settingNames: (variable: string, key: string) => string;
}

/**
 * Finds the service of this folder and its tokens: `--url`, then `SIGNALBOX_URL`, then the instance that runs in the data
 * directory, then the configured address. Tokens of the configuration are sent only to the last two.
 * @throws CommandError for an invalid address; ConfigError
 */
export async function findAccess(env: NodeJS.ProcessEnv, options: ServiceOptions): Promise<ServiceAccess> {
  const named = options.url ?? (env.SIGNALBOX_URL || undefined);
  if (named !== undefined) {
    return {
      url: checkedUrl(named, options.url === undefined ? "SIGNALBOX_URL" : "--url"),
      // The token of an agent run is for the service that SIGNALBOX_URL names.
      apiToken: env.SIGNALBOX_API_TOKEN || (named === env.SIGNALBOX_URL && env.SIGNALBOX_TOKEN) || undefined,
      hookToken: env.SIGNALBOX_HOOKS_TOKEN || undefined,
      hooksPath: options.hooksPath ?? "/hooks",
      settingNames: (variable) => `${variable} (the configuration file is not used with --url or SIGNALBOX_URL)`,
    };
  }
  const settingNames: ServiceAccess["settingNames"] = (variable, key) =>
    `${variable}, or ${key} in the configuration file`;
  const running = hasConfiguration(env) ? undefined : defaultInstance(env);
  if (running) return { ...running, hooksPath: options.hooksPath ?? "/hooks", settingNames };
  const { readConfig, configFile } = await import("../config/load.ts");
  const config = readConfig(env);
  const { server, hooks, dataDir } = config;
  const url = runningUrl(config);
  if (url === undefined && server.port === 0) {
    throw new CommandError(
      EXIT.usage,
      `server.port is 0, so the port differs at each start, and no instance runs in ${resolve(dataDir)}: name the address of the service with --url.`,
    );
  }
  return {
    url: url ?? localUrl(server),
    apiToken: firstToken(server.apiToken),
    hookToken: firstToken(hooks.token) ?? (configFile(env) ? undefined : findSavedToken(resolve(dataDir))),
    hooksPath: options.hooksPath ?? hooks.path,
    settingNames,
  };
}

const hasConfiguration = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env.SIGNALBOX_CONFIG || env.SIGNALBOX_CONFIG_JSON) || existsSync(resolve("signalbox.json5"));

/**
 * Returns the instance that runs in the data directory, and its tokens, where there is no configuration file. Nothing of the
 * schema is loaded for it, which takes as long as the rest of a command.
 */
function defaultInstance(env: NodeJS.ProcessEnv): Pick<ServiceAccess, "url" | "apiToken" | "hookToken"> | undefined {
  const dataDir = resolve(env.SIGNALBOX_DATA_DIR || ".signalbox");
  const url = runningUrl({ dataDir });
  if (url === undefined) return undefined;
  const hookToken = env.SIGNALBOX_HOOKS_TOKEN || findSavedToken(dataDir);
  return { url, apiToken: env.SIGNALBOX_API_TOKEN || undefined, hookToken };
}

function checkedUrl(text: string, source: string): string {
  const url = URL.parse(text);
  const fault = (what: string) => new CommandError(EXIT.usage, `${source} ${what}: for example http://127.0.0.1:3000.`);
  if (!/^https?:/i.test(text)) throw fault("must start with http:// or https://");
  if (!url) throw fault("is no address: check its host, and its port, which is at most 65535");
  if (url.username || url.password) throw fault("must not contain a user name or a password");
  if (/[?#]/.test(text)) throw fault("must not contain a query or a fragment");
  return text;
}

/** Returns the address of the instance that runs in the configured data directory, once it is ready. */
const runningUrl = ({ dataDir }: Pick<Config, "dataDir">) => findRunningInstance(resolve(dataDir))?.url;

/**
 * Returns the address of the service: `SIGNALBOX_URL`, the running instance of this folder, whose port may be another, or as
 * configured.
 * @throws CommandError if SIGNALBOX_URL is not an address
 */
export const serviceUrl = (env: NodeJS.ProcessEnv, config: Config): string =>
  env.SIGNALBOX_URL ? checkedUrl(env.SIGNALBOX_URL, "SIGNALBOX_URL") : (runningUrl(config) ?? localUrl(config.server));
