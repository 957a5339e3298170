import { type Client, createClient, SignalboxError } from "../client/client.ts";
import { ownCommand } from "../shared/process/ownCommands.ts";
import { CommandError, EXIT } from "./exit.ts";
import { findAccess, type ServiceAccess, type ServiceOptions } from "./serviceAccess.ts";

/** The kind of endpoint: the API, a hook with the hook token, or a mapped hook that may authenticate its own sender. */
type Endpoint = "api" | "hooks" | "mapped";

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
  const onError = () => {}; // a command reports its errors itself
  const settings = { url, token: apiToken ?? hookToken, hookToken, hooksPath, fetch: options.fetch, onError };
  const clients = [createClient(settings)] as [Client, ...Client[]];
  const retrying = (onAway = onError, retryForMs = Number.POSITIVE_INFINITY) => {
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

function describeError(error: SignalboxError, access: ServiceAccess, endpoint: Endpoint): string {
  const { code, detail, errors, isTransient } = error;
  const faults = errors.map((fault) => `\n  - ${fault.parameter ?? fault.pointer ?? ""}: ${fault.detail}`);
  const message = detail + faults.join("");
  if (code === "unreachable" && isTransient) {
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
