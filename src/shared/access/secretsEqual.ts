import { timingSafeEqual } from "node:crypto";

/**
 * Returns whether `given` equals the secret, in a time that reveals neither where the two differ nor how long the secret is.
 * For another length the secret is compared with itself.
 */
export function secretsEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  const isAsLong = a.length === b.length;
  return timingSafeEqual(isAsLong ? a : b, b) && isAsLong;
}
