import { createHmac, timingSafeEqual } from "node:crypto";

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

const ENCODINGS = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
} as const;

export type Algorithm = keyof typeof DIGEST_BYTES;
export type Encoding = keyof typeof ENCODINGS;

/** Why the verification of a sender failed. Only for the log: every refused sender gets the same response. */
export type RefusalReason = "missing" | "malformed" | "wrong" | "expired";

/** Thrown only inside this folder: `verifySender` turns it into a SenderVerification. */
export class SenderRefusedError extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`The sender's credentials are ${reason}`);
    this.name = "SenderRefusedError";
    this.reason = reason;
  }
}

/** A signature as read from the headers, not verified yet. */
export interface Signature {
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  readonly keys: readonly Buffer[];
  /** Text that is signed before the body: the time stamp and whatever else the scheme adds. */
  readonly signedPrefix: string;
  /** The encoded digests as they arrived. One valid digest is enough; malformed ones beside it are ignored. */
  readonly digests: readonly string[];
  /** Unix seconds; null if the scheme signs no time stamp. */
  readonly signedAtSeconds: number | null;
  readonly toleranceSeconds: number;
}

/**
 * Verifies that one of the digests is the HMAC of `signedPrefix` and the body under one of the keys. Comparisons take
 * constant time for digests of the right length.
 * @returns the HMAC. It is the same for one message, however its signature was encoded and whatever stood beside it
 * @throws SenderRefusedError
 */
export function verifySignature(signature: Signature, rawBody: Buffer, now: Date): Buffer {
  const { algorithm, encoding, keys, signedPrefix, signedAtSeconds, toleranceSeconds } = signature;
  const given = signature.digests
    .map((digest) => decode(digest, encoding))
    .filter((digest) => digest?.length === DIGEST_BYTES[algorithm]) as Buffer[];
  if (given.length === 0) throw new SenderRefusedError("malformed");
  // This check precedes the hash of the body, so that an expired message costs no hash.
  if (signedAtSeconds !== null) checkTime(signedAtSeconds, toleranceSeconds, now);
  for (const key of keys) {
    const expected = createHmac(algorithm, key).update(signedPrefix).update(rawBody).digest();
    if (given.map((digest) => timingSafeEqual(digest, expected)).includes(true)) return expected;
  }
  throw new SenderRefusedError("wrong");
}

/** Checks that a signed time is near enough to now. @throws SenderRefusedError */
export function checkTime(signedAtSeconds: number, toleranceSeconds: number, now: Date): void {
  if (Math.abs(unixSeconds(now) - signedAtSeconds) > toleranceSeconds) throw new SenderRefusedError("expired");
}

/** Decodes a text; returns null if it is not valid in this encoding or decodes to no bytes. */
function decode(text: string, encoding: Encoding): Buffer | null {
  const bytes = Buffer.from(ENCODINGS[encoding].test(text) ? text : "", encoding);
  return bytes.length > 0 ? bytes : null;
}

const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);
