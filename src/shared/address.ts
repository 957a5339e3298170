import { isIPv4 } from "node:net";

/** The placeholder of a secret that is not shown. */
export const REDACTED = "[redacted]";

/** Returns an address without its user, password and query; only its scheme when these parts cannot be told apart. */
export function redactAddress(address: string): string {
  const [scheme] = /^[a-z+]+:\/\//i.exec(address) ?? [""];
  const [rest = ""] = address.slice(scheme.length).split(/[?#]/, 1);
  const more = address.slice(scheme.length + rest.length);
  if (more.includes("@")) return `${scheme}${REDACTED}`; // the @ belongs to a password or to the query
  const at = rest.lastIndexOf("@"); // a password may contain an @ too
  return `${scheme}${at < 0 ? "" : `${REDACTED}@`}${rest.slice(at + 1)}${more && `?${REDACTED}`}`;
}

/** Returns the host of an address, or the comma-separated hosts. */
export const hostsOf = (address: string): string =>
  redactAddress(address)
    .replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@]*@/, "")
    .split(/[/?]/, 1)[0] as string;

/** Returns whether a server that listens on this host can be reached only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

/** Returns a configured address without trailing slashes, so that a path can be appended. */
export const trimSlashes = (address: string): string => address.replace(/(?<!\/)\/+$/, "");
