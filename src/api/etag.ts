import { hash } from "node:crypto";

/** Hexadecimal digits of a tag: 128 bits. */
const LENGTH = 32;

/**
 * Returns the entity tag of a response from its JSON, so that it changes with everything that a reader sees. It is weak,
 * because a proxy may compress the response.
 */
export const etagOf = (json: string): string => `W/"${hash("sha256", json, "hex").slice(0, LENGTH)}"`;

/**
 * Returns whether a header `If-None-Match` matches a tag by the weak comparison (RFC 9110, section 13.1.2). Some proxies
 * append the name of the compression to the tags of compressed responses, and clients send them back: `"…-gzip"`.
 */
export function matchesETag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const [, tag] = etag.split('"');
  return [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(
    ([, sent = ""]) => sent.slice(0, LENGTH) === tag && /^(-\w+)?$/.test(sent.slice(LENGTH)),
  );
}
