import { hostsOf } from "./address.ts";

/** What TLS says of a certificate whose authority nobody has told it to trust. Source: nodejs.org/api/tls.html, X509 codes. */
const UNTRUSTED = /SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/**
 * Says in one sentence that a server which this service needs cannot be used, why, and what to do.
 * @param reason codes of the system or of TLS, or what the server wants; an address or a secret has no place in it
 * @param setting where the address is configured
 */
export function cannotBeUsed(name: string, url: string, reason: string | undefined, setting: string): string {
  const remedy = UNTRUSTED.test(reason ?? "")
    ? "name a file with the authority of its certificate in NODE_EXTRA_CA_CERTS"
    : "start it";
  return `${name} at ${hostsOf(url)} cannot be used${reason ? ` (${reason})` : ""}: ${remedy}, or correct ${setting}.`;
}
