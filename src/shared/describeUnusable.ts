import { hostsOf } from "./address.ts";

/** What TLS says of a certificate whose authority nobody has told it to trust. Source: nodejs.org/api/tls.html, X509 codes. */
const UNTRUSTED = /SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/** Why: codes of the system or of TLS from the way there, or what the server answered, without an address or a secret. */
export type Unusable = { readonly code: string | undefined } | { readonly answer: string };

/**
 * Says in one sentence that a server which this service needs cannot be used, why, and what to do.
 * @param setting where the address is configured
 */
export function describeUnusable(name: string, url: string, why: Unusable, setting: string): string {
  const where = `${name} at ${hostsOf(url)} cannot be used`;
  if ("answer" in why) return `${where} (${why.answer}): correct ${setting}.`;
  const remedy = UNTRUSTED.test(why.code ?? "")
    ? "name a file with the authority of its certificate in NODE_EXTRA_CA_CERTS"
    : "start it";
  return `${where}${why.code ? ` (${why.code})` : ""}: ${remedy}, or correct ${setting}.`;
}
