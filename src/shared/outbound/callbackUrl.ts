import { invalidField } from "../errors.ts";
import { MAX_CALLBACK_URL_CHARS } from "../text/text.ts";
import { type AllowedHost, findAllowedHost, portOf, readAllowedHost } from "./allowedHosts.ts";

/** An address that a caller chose and the operator allows. */
export interface Callback {
  readonly url: URL;
  /** The entry of `outbound.allowedHosts` that allows it. */
  readonly allowed: AllowedHost;
}

/**
 * Checks the address that a caller gives for a callback against the configured hosts.
 * @param allowedHosts `outbound.allowedHosts`; undefined without `outbound`
 * @returns the callback, or a fault that follows the name of the field
 */
export function readCallbackUrl(
  text: string,
  allowedHosts: readonly string[] | undefined,
): Callback | { readonly fault: string } {
  if (!allowedHosts) return { fault: "is not accepted by this service: its operator must set `outbound.allowedHosts`" };
  const [, authority = ""] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  const url = URL.parse(text);
  // Programs read these differently, so that another host than the checked one might be meant.
  if (/[\s\p{Cc}\\]/u.test(text) || authority.includes("%")) {
    return { fault: "must have no spaces, control characters or backslashes, and no percent-encoding in its host" };
  }
  if (text.length > MAX_CALLBACK_URL_CHARS || authority === "" || !url) {
    return {
      fault: `must be an address that begins with http:// or https://, of at most ${MAX_CALLBACK_URL_CHARS} characters`,
    };
  }
  if (authority.includes("@")) return { fault: "must have no user name or password" };
  if (url.hostname.endsWith(".")) return { fault: "must have no dot at the end of its host" };
  if (/^\.|\.\./.test(url.hostname)) return { fault: "must have no empty part between the dots of its host" };
  const entries = allowedHosts.flatMap((entry) => readAllowedHost(entry) ?? []);
  const allowed = findAllowedHost(url, entries);
  if (allowed) return { url, allowed };
  const port = url.port === "" ? "" : `:${portOf(url)}`;
  return {
    fault: `points to a host that is not allowed: the operator must add ${JSON.stringify(url.hostname + port)} to \`outbound.allowedHosts\``,
  };
}

/**
 * Checks that the operator allows the host of a `callbackUrl`. The address to which its name resolves is checked when the
 * callback is sent.
 * @param allowedHosts `outbound.allowedHosts`; undefined without `outbound`
 * @throws AppError invalid_body
 */
export function checkCallbackUrl(url: string | null | undefined, allowedHosts: readonly string[] | undefined): void {
  if (url === undefined || url === null) return;
  const read = readCallbackUrl(url, allowedHosts);
  if ("fault" in read) throw invalidField("callbackUrl", read.fault);
}
