import { hostsOf } from "./address.ts";

/** TLS error codes for a certificate that is not trusted. Source: nodejs.org/api/tls.html, X509 codes. */
const UNTRUSTED = /SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE/;

/** The reason: the code of a system or TLS error, or the meaning of the server's answer, without an address or a secret. */
export type Unusable = { readonly code: string | undefined } | { readonly answer: string };

/**
 * Returns one sentence: a server that this service needs cannot be used, the reason, and the remedy.
 * @param setting the setting that holds the address
 * @param certificateRemedy what to do if its certificate is not trusted
 */
export function describeUnusable(
  name: string,
  url: string,
  why: Unusable,
  setting: string,
  certificateRemedy: string,
): string {
  const where = `${name} at ${hostsOf(url)} cannot be used`;
  if ("answer" in why) return `${where} (${why.answer}): correct ${setting}.`;
  const remedy = UNTRUSTED.test(why.code ?? "") ? certificateRemedy : "start it";
  return `${where}${why.code ? ` (${why.code})` : ""}: ${remedy}, or correct ${setting}.`;
}
