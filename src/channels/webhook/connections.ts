import { type LookupAddress, type LookupOptions, lookup as systemLookup } from "node:dns";
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { findAllowedHost, readAllowedHost } from "../../shared/outbound/allowedHosts.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import { isAllowedAddress } from "./allowedAddress.ts";

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The code of the error for a host, or an address of a host, that is not allowed. */
export const NOT_ALLOWED = "ERR_HOST_NOT_ALLOWED";

const resolveWithSystem: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * Returns a function that resolves each name only once at a time, whoever waits for it. A name whose server does not answer
 * otherwise occupies all threads in which Node resolves names, and the requests to other hosts wait too.
 * @param timeoutMs how long each caller waits
 */
function sharingLookups(resolve: Resolve, timeoutMs: number): Resolve {
  const pending = new Map<string, ReturnType<Resolve>>();
  return (hostname) => {
    const found = pending.get(hostname) ?? resolve(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, found);
    return withTimeout(found, timeoutMs, "The name server");
  };
}

export interface ConnectionOptions {
  /** Limits the time to resolve a name, and the time to open a connection. */
  readonly timeoutMs: number;
  readonly resolve?: Resolve | undefined;
}

/** The proxies of the environment: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface Proxies {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy?: string | undefined;
}

/** Returns the proxies that `NODE_USE_ENV_PROXY=1` turns on for Node's own requests; undefined without it. */
export const proxiesOf = (env: Readonly<Record<string, string | undefined>>): Proxies | undefined =>
  env.NODE_USE_ENV_PROXY !== "1"
    ? undefined
    : {
        httpProxy: env.http_proxy ?? env.HTTP_PROXY,
        httpsProxy: env.https_proxy ?? env.HTTPS_PROXY,
        noProxy: env.no_proxy ?? env.NO_PROXY,
      };

/** Opens connections to the addresses of the configuration, which are the operator's choice, through proxies if there are any. */
export function openConnections(
  { timeoutMs, resolve = resolveWithSystem }: ConnectionOptions,
  proxies?: Proxies,
): Dispatcher {
  const connect = { timeout: timeoutMs, lookup: lookupBy(sharingLookups(resolve, timeoutMs)) };
  if (!proxies) return new Agent({ connect });
  const given = Object.entries(proxies).filter(([, value]) => value !== undefined);
  return new EnvHttpProxyAgent({ connect, ...Object.fromEntries(given) });
}

/**
 * Opens connections to addresses that callers chose. The host is checked for each connection, and so is each address that it
 * resolves to: the connection goes to a checked address, without a second lookup, and without a proxy, which would look the
 * name up itself.
 * @param allowedHosts `outbound.allowedHosts`
 */
export function openAllowedConnections(
  allowedHosts: readonly string[],
  { timeoutMs, resolve = resolveWithSystem }: ConnectionOptions,
): Agent {
  const entries = allowedHosts.flatMap((entry) => readAllowedHost(entry) ?? []);
  const shared = sharingLookups(resolve, timeoutMs);
  return new Agent({
    connect(options, callback) {
      const url = URL.parse(`${options.protocol}//${options.host}`);
      const allowed = url && findAllowedHost(url, entries);
      if (!allowed) return callback(notAllowed(), null);
      const resolveAllowed: Resolve = async (hostname) => {
        const addresses = await shared(hostname);
        const checked = addresses.filter(({ address }) => isAllowedAddress(address, { url, allowed }, entries));
        if (addresses.length > 0 && checked.length === 0) throw notAllowed();
        return checked;
      };
      return buildConnector({ timeout: timeoutMs, lookup: lookupBy(resolveAllowed) })(options, callback);
    },
  });
}

const notAllowed = () => Object.assign(new Error("the host is not allowed"), { code: NOT_ALLOWED });

/** The callback of `dns.lookup`, with a list of addresses when all are asked for. */
type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Returns a replacement of `dns.lookup` for sockets. */
const lookupBy =
  (resolve: Resolve) =>
  (hostname: string, { all }: LookupOptions, callback: LookupCallback) => {
    const answer = ([...addresses]: readonly LookupAddress[]) => {
      const [first] = addresses;
      if (!first) callback(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "");
      else if (all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    resolve(hostname).then(answer, (error) => callback(error, ""));
  };
