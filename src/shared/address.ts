import { isIPv4, isIPv6 } from "node:net";

/** The placeholder of a secret that is not shown. */
export const REDACTED = "[redacted]";

/** Returns an address without its user, password and query; only its scheme when these parts cannot be distinguished. */
export function redactAddress(address: string): string {
  const [scheme] = /^[a-z+]+:\/\//i.exec(address) ?? [""];
  const [rest = ""] = address.slice(scheme.length).split(/[?#]/, 1);
  const more = address.slice(scheme.length + rest.length);
  if (more.includes("@")) return `${scheme}${REDACTED}`; // the @ belongs to a password or to the query
  const at = rest.lastIndexOf("@"); // a password may contain an @ too
  return `${scheme}${at < 0 ? "" : `${REDACTED}@`}${rest.slice(at + 1)}${more && `?${REDACTED}`}`;
}

/** Returns an address without its path either, which is the secret of many incoming webhooks. */
export const redactPath = (address: string): string =>
  redactAddress(address).replace(/^([a-z+]+:\/\/[^/?]*)[/?].+$/i, `$1/${REDACTED}`);

/** Returns the host of an address, or the comma-separated hosts. */
export const hostsOf = (address: string): string =>
  redactAddress(address)
    .replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@]*@/, "")
    .split(/[/?]/, 1)[0] as string;

/** Returns whether a server that listens on this host can be reached only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

/** Returns the address of the service that a configuration describes, for a client on this machine. */
export const localUrl = ({ host, port, basePath = "" }: { host: string; port: number; basePath?: string }): string =>
  `http://${reachableHost(host)}:${port}${basePath}`;

/** Returns the host by which a client on this machine reaches a server that listens on this address. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns a configured address without trailing slashes, so that a path can be appended. */
export const trimSlashes = (address: string): string => address.replace(/(?<!\/)\/+$/, "");

/**
 * Returns the network of a client, to which limits of failed requests apply: the /64 of an IPv6 address, which one client
 * has to itself (RFC 6177), or an IPv4 address, also one that is mapped to IPv6. Other texts are returned as they are.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!isIPv6(plain)) return address;
  // URL writes every address in one form, in which an IPv4 address at the end is hexadecimal.
  const text = URL.parse(`http://[${plain}]`)?.hostname.slice(1, -1) ?? plain;
  const [before = "", after] = text.split("::");
  const [head, tail] = [before, after ?? ""].map((part) => part.split(":").filter((group) => group !== "")) as [
    string[],
    string[],
  ];
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  const mapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff" ? groups.slice(6) : undefined;
  if (!mapped) return `${groups.slice(0, 4).join(":")}::/64`;
  return mapped
    .map((group) => Number.parseInt(group, 16))
    .map((group) => `${group >> 8}.${group & 255}`)
    .join(".");
}
