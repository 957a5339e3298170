import ipaddr from "ipaddr.js";
import { type AllowedHost, allowsPort } from "../../shared/outbound/allowedHosts.ts";
import type { Callback } from "../../shared/outbound/callbackUrl.ts";

/** Ranges that are routed within a network only. */
const PRIVATE_RANGES: readonly string[] = ["private", "uniqueLocal", "carrierGradeNat"];

/** The addresses of IPv6 that are routed in public (RFC 4291); others may carry an IPv4 address, such as `::7f00:1`. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Addresses at which clouds answer their machines outside of the link-local range: Azure, Alibaba Cloud, AWS and Google Cloud
 * give credentials or settings there.
 */
const PLATFORM_ADDRESSES: readonly string[] = ["168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"];

/** Domains that do not exist in the public DNS (ICANN 2024, RFC 6762, RFC 8375), so that no stranger has a name below them. */
const PRIVATE_DOMAIN = /(^|\.)(internal|local|home\.arpa)$/;

/**
 * Returns whether a request to a callback may be sent to an address that its host resolves to. A name does not say where
 * it leads, and whoever controls its DNS may change that at any time:
 *
 * - A public address is allowed, and so is every address that `outbound.allowedHosts` lists itself.
 * - A private address is allowed if the list has the very name, or if `*.` matched below a domain of private networks.
 * - A loopback address is allowed for `localhost`.
 * - Nothing else is: link-local addresses and those at which a cloud answers its machines, multicast, and addresses that carry
 *   an IPv4 address.
 */
export function isAllowedAddress(
  address: string,
  { url, allowed }: Callback,
  entries: readonly AllowedHost[],
): boolean {
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return false;
  const resolved = ipaddr.process(plain);
  const isListed = entries.some(
    (entry) => entry.kind === "address" && allowsPort(entry, url) && isSame(entry, resolved),
  );
  if (isListed) return true;
  if (PLATFORM_ADDRESSES.includes(resolved.toString())) return false;
  const range = resolved.range();
  if (range === "unicast") return resolved.kind() === "ipv4" || resolved.match(GLOBAL_UNICAST);
  if (range === "loopback") return /(^|\.)localhost$/.test(url.hostname);
  return PRIVATE_RANGES.includes(range) && (allowed.kind === "name" || PRIVATE_DOMAIN.test(allowed.host));
}

function isSame({ host }: AllowedHost, resolved: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ipaddr.process(host.replace(/^\[|\]$/g, "")).toNormalizedString() === resolved.toNormalizedString();
}
