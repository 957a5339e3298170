import { isIPv4 } from "node:net";

/** What stands in the place of a secret that is not shown. */
export const REDACTED = "[redacted]";

/** An address without its user, password and query; nothing but its scheme where it is not clear what is which. */
export function redactAddress(address: string): string {
  const [scheme] = /^[a-z+]+:\/\//i.exec(address) ?? [""];
  const [rest = ""] = address.slice(scheme.length).split(/[?#]/, 1);
  const more = address.slice(scheme.length + rest.length);
  if (more.includes("@")) return `${scheme}${REDACTED}`; // of a password, or of the query
  const at = rest.lastIndexOf("@"); // a password may hold one too
  return `${scheme}${at < 0 ? "" : `${REDACTED}@`}${rest.slice(at + 1)}${more && `?${REDACTED}`}`;
}

/** The hosts of an address. */
export const hostsOf = (address: string): string =>
  redactAddress(address)
    .replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@]*@/, "")
    .split(/[/?]/, 1)[0] as string;

/** Whether only programs on this machine can reach what listens at the host. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

/** Returns a configured address without trailing slashes, so that a path can be appended. */
export const trimSlashes = (address: string): string => address.replace(/(?<!\/)\/+$/, "");
