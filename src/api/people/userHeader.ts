import ipaddr from "ipaddr.js";
import type { Context } from "koa";
import type { UserHeaderConfig } from "../../config/access/people.ts";
import type { Identity } from "../auth/caller.ts";
import { grantsOf } from "./roles.ts";

/** Matches a name or a group: neither empty nor with characters that show nothing. */
const PLAIN = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u;

/**
 * Returns a function that returns the person whom a trusted proxy names in a request. A header that arrives twice names nobody,
 * because the proxy has then let one through that its client sent.
 */
export function headerPerson(settings: UserHeaderConfig): (ctx: Context) => Identity | null {
  const networks = settings.from.map(networkOf);
  const grantsFor = grantsOf(settings);
  return ({ req }) => {
    if (!isWithin(req.socket.remoteAddress, networks)) return null;
    const values = (name = "") => req.headersDistinct[name.toLowerCase()] ?? [];
    const [name = "", ...others] = values(settings.name).map((value) => value.trim());
    const [groups = "", ...more] = values(settings.groups);
    if (!PLAIN.test(name) || others.length > 0 || more.length > 0) return null;
    // Only with another separator may names contain commas, as those of LDAP do.
    const separator = groups.includes("|") ? "|" : ",";
    const grants = grantsFor(groups.split(separator).map((group) => group.trim()));
    return { actor: `header:${name}`, grants, person: { name, setting: "server.userHeader" } };
  };
}

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const networkOf = (text: string): Network => {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
};

/** Returns whether an address is in one of the networks. An IPv4 address that is mapped to IPv6 counts as the former. */
function isWithin(address: string | undefined, networks: readonly Network[]): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const peer = ipaddr.process(address);
  return networks.some(([base, bits]) => base.kind() === peer.kind() && peer.match(base as ipaddr.IPv6, bits));
}
