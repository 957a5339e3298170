import { resolve } from "node:path";
import { type Client, createClient, SignalboxError } from "../client/client.ts";
import { localUrl } from "../shared/address.ts";
import { firstToken } from "../shared/config/formats/tokenList.ts";
import { ownCommand } from "../shared/process/ownCommands.ts";
import { CommandError, EXIT } from "./exit.ts";

export interface ServiceOptions {
  /** The address of the service. Defaults to SIGNALBOX_URL, then to the service in the configuration. */
  readonly url?: string | undefined;
  /** The base path of its hooks, if it is not the configured service. */
  readonly hooksPath?: string | undefined;
}

/** The kind of endpoint: the API, a hook with the hook token, or a mapped hook that may authenticate its own sender. */
type Endpoint = "api" | "hooks" | "mapped";

/** The address of the service and the tokens for it. */
interface ServiceAccess {
  readonly url: string;
  readonly apiToken: string | undefined;
  readonly hookToken: string | undefined;
  readonly hooksPath: string;
  /** Returns a text for people on where a token can be set. */
  readonly settingNames: (variable: string, key: string) => string;
}

export interface Service extends ServiceAccess {
  /** A client without retries. */
  readonly client: Client;
  /**
   * Returns a client that retries reads and reports, without limit unless one is given, and calls `onAway` after each failed
   * attempt.
   */
  readonly retrying: (onAway?: () => void, retryForMs?: number) => Client;
}

/**
 * Connects to the running service, runs `act`, and closes the clients.
 * @param endpoint decides which token an error message names
 * @throws CommandError with the fault and its remedy
 */
export async function withService<T>(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & { readonly fetch?: typeof globalThis.fetch },
  act: (service: Service) => Promise<T>,
  endpoint: Endpoint = "api",
): Promise<T> {
  const access = await findAccess(env, options);
  checkTokens(access);
  const { url, apiToken, hookToken, hooksPath } = access;
  // The hook token also permits reading runs.
  const settings = { url, token: apiToken ?? hookToken, hookToken, hooksPath, fetch: options.fetch };
  const clients = [createClient(settings)] as [Client, ...Client[]];
  const retrying = (onAway?: () => void, retryForMs = Number.POSITIVE_INFINITY) => {
    const client = createClient({ ...settings, retryForMs, onError: onAway });
    clients.push(client);
    return client;
  };
  try {
    return await act({ ...access, client: clients[0], retrying });
  } catch (error) {
    if (error instanceof SignalboxError) throw new CommandError(EXIT.service, describeError(error, access, endpoint));
    throw error;
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** Finds the address and the tokens. Tokens of a configuration file are sent only to the service in that file. */
async function findAccess(env: NodeJS.ProcessEnv, options: ServiceOptions): Promise<ServiceAccess> {
  const named = options.url ?? (env.SIGNALBOX_URL || undefined);
  if (named !== undefined) {
    return {
      url: checkedUrl(named, options.url === undefined ? "SIGNALBOX_URL" : "--url"),
      apiToken: env.SIGNALBOX_API_TOKEN || undefined,
      hookToken: env.SIGNALBOX_HOOKS_TOKEN || undefined,
      hooksPath: options.hooksPath ?? "/hooks",
      settingNames: (variable) => `${variable} (the configuration file is not used with --url or SIGNALBOX_URL)`,
    };
  }
  const [{ readConfig, configFile }, { findSavedToken }] = await Promise.all([
    import("../shared/config/load.ts"),
    import("./start/firstUse.ts"),
  ]);
  const { server, hooks, dataDir } = readConfig(env);
  if (server.port === 0) {
    throw new CommandError(
      EXIT.usage,
      "server.port is 0, so the port differs at each start: name the address of the service with --url.",
    );
  }
  return {
    url: localUrl(server),
    apiToken: firstToken(server.apiToken),
    hookToken: firstToken(hooks.token) ?? (configFile(env) ? undefined : findSavedToken(resolve(dataDir))),
    hooksPath: options.hooksPath ?? hooks.path,
    settingNames: (variable, key) => `${variable}, or ${key} in the configuration file`,
  };
}

function checkedUrl(text: string, source: string): string {
  const url = URL.parse(text);
  const fault = (what: string) => new CommandError(EXIT.usage, `${source} ${what}: for example http://127.0.0.1:3000.`);
  if (!url || !["http:", "https:"].includes(url.protocol)) throw fault("must start with http:// or https://");
  if (url.username || url.password) throw fault("must not contain a user name or a password");
  return text;
}

function describeError(error: SignalboxError, access: ServiceAccess, endpoint: Endpoint): string {
  const { code, detail, errors } = error;
  const faults = errors.map((fault) => `\n  - ${fault.parameter ?? fault.pointer ?? ""}: ${fault.detail}`);
  const message = detail + faults.join("");
  if (code === "unreachable" && isBlockedPort(error)) {
    return `The service at ${access.url} cannot be reached: fetch blocks the port ${new URL(access.url).port}, as browsers do. Let it listen at another one (PORT, server.port).`;
  }
  if (code === "unreachable") {
    return `${message} Start it with \`${ownCommand("start")}\`, or name its address with --url or SIGNALBOX_URL.`;
  }
  if (code === "unauthorized") return describeRefusal(access, endpoint);
  if (code === "forbidden")
    return `${message} Set the full API token in ${access.settingNames("SIGNALBOX_API_TOKEN", "server.apiToken")}.`;
  if (code === "not_found" && endpoint !== "api") {
    return `Hooks are not enabled at ${access.url}${access.hooksPath}: set hooks.enabled there, or name their path with --hooks-path.`;
  }
  return message;
}

/** Returns whether fetch refused the port: fetch.spec.whatwg.org, port blocking. Only the message of its error says so. */
function isBlockedPort({ cause }: SignalboxError): boolean {
  return cause instanceof Error && cause.cause instanceof Error && cause.cause.message === "bad port";
}

function describeRefusal(access: ServiceAccess, endpoint: Endpoint): string {
  const { token, name, where } = tokenOf(access, endpoint);
  if (endpoint === "mapped") {
    const remedy = "if its mapping has auth, pass the sender's token or signature with --header";
    return `The service at ${access.url} did not authenticate this hook: correct ${where}, or ${remedy}.`;
  }
  return token === undefined
    ? `The service at ${access.url} requires its ${name}: set ${where}.`
    : `The service at ${access.url} rejected the ${name}: correct ${where}.`;
}

/** Returns whether a header can contain the token. If not, the error of fetch would show it. Trailing white space is ignored. */
const isSendable = (token = ""): boolean => !/[^ -~]/.test(token.trimEnd());

/** @throws CommandError for a token that no header can contain; the message does not show it */
function checkTokens(access: ServiceAccess): void {
  for (const endpoint of ["api", "hooks"] as const) {
    const { token, name, where } = tokenOf(access, endpoint);
    if (isSendable(token)) continue;
    const why = `The ${name} contains a line break or another character that no header can contain.`;
    throw new CommandError(EXIT.failed, `${why} Correct ${where}.`);
  }
}

/** Returns the token for an endpoint, its name, and where it can be set. */
function tokenOf({ apiToken, hookToken, settingNames }: ServiceAccess, endpoint: Endpoint) {
  return endpoint === "api"
    ? { token: apiToken, name: "API token", where: settingNames("SIGNALBOX_API_TOKEN", "server.apiToken") }
    : { token: hookToken, name: "hook token", where: settingNames("SIGNALBOX_HOOKS_TOKEN", "hooks.token") };
}
