import { isIP } from "node:net";

/**
 * An entry of `outbound.allowedHosts`: a name (`name`), every name below a domain (`below`, written `*.` and the domain), or
 * an IP address (`address`). `host` is in the form in which `URL` writes hosts.
 */
export interface AllowedHost {
  readonly kind: "name" | "below" | "address";
  readonly host: string;
  /** The allowed port; null for the default port of the scheme. */
  readonly port: number | null;
}

const MAX_PORT = 65_535;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Parses an entry of `outbound.allowedHosts`; returns null for one that no address can match. */
export function readAllowedHost(entry: string): AllowedHost | null {
  const [, wildcard, written = "", digits] = /^(\*\.)?(\[[^\]]*\]|[^:[\]]+)(?::(\d+))?$/.exec(entry) ?? [];
  const port = digits === undefined ? null : Number(digits);
  const host = URL.parse(`http://${written}/`)?.hostname;
  if (!host || (port !== null && (port < 1 || port > MAX_PORT))) return null;
  const isAddress = isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  if (wildcard === undefined) return { kind: isAddress ? "address" : "name", host, port };
  return isAddress ? null : { kind: "below", host, port };
}

/** Returns the port of an http or https address, also when it is the default port of the scheme. */
export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port);

/** Returns whether an entry allows the port of an address. */
export const allowsPort = (allowed: AllowedHost, url: URL): boolean =>
  portOf(url) === (allowed.port ?? DEFAULT_PORTS[url.protocol]);

/**
 * Returns the entry that allows an address, or null. Names match without regard to case, since `URL` writes them in lower
 * case. `*.` matches names at any depth below the domain, but neither the domain itself nor IP addresses. A name with a dot at
 * its end matches nothing. An entry that has the name itself goes before one with `*.`.
 */
export function findAllowedHost(url: URL, entries: readonly AllowedHost[]): AllowedHost | null {
  const matching = entries.filter((allowed) => allowsPort(allowed, url) && allowsHost(allowed, url.hostname));
  return matching.find(({ kind }) => kind !== "below") ?? matching[0] ?? null;
}

function allowsHost({ kind, host }: AllowedHost, hostname: string): boolean {
  return kind === "below" ? hostname.length > host.length + 1 && hostname.endsWith(`.${host}`) : hostname === host;
}
