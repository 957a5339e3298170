import { timingSafeEqual } from "node:crypto";

/**
 * Whether what somebody sent is the secret, in a time that tells nothing of where the two differ or how long the secret is:
 * what has another length is not looked at, and the secret is compared with itself instead.
 */
export function secretsEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  const isAsLong = a.length === b.length;
  return timingSafeEqual(isAsLong ? a : b, b) && isAsLong;
}
