import { createHmac, timingSafeEqual } from "node:crypto";

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

const ENCODINGS = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
} as const;

export type Algorithm = keyof typeof DIGEST_BYTES;
export type Encoding = keyof typeof ENCODINGS;

/** Why a sender is not believed. For the log: every sender gets the same answer. */
export type RefusalReason = "missing" | "malformed" | "wrong" | "expired";

/** Thrown inside this folder only: checkSender makes a Proof of it. */
export class Refused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(`The sender's proof is ${reason}`);
    this.name = "Refused";
    this.reason = reason;
  }
}

/** What a request claims: one of the signatures is the HMAC of `before` and the body under one of the keys. */
export interface SignatureClaim {
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  readonly keys: readonly Buffer[];
  /** What is signed before the body: the time stamp and what else the scheme puts there. */
  readonly before: string;
  /** As they arrived. One that fits is enough; one that is no signature at all does no harm to the others. */
  readonly signatures: readonly string[];
  /** Unix seconds; null where the scheme signs no time stamp. */
  readonly sentAtSeconds: number | null;
  readonly toleranceSeconds: number;
}

/**
 * Checks a claim over the bytes of the body, in constant time for signatures of the right length.
 * @returns the HMAC, which is the same for one message however its signature was written and what stood beside it
 * @throws Refused
 */
export function checkClaim(claim: SignatureClaim, rawBody: Buffer, now: Date): Buffer {
  const { algorithm, encoding, keys, before, sentAtSeconds, toleranceSeconds } = claim;
  const given = claim.signatures
    .map((signature) => decode(signature, encoding))
    .filter((digest) => digest?.length === DIGEST_BYTES[algorithm]) as Buffer[];
  if (given.length === 0) throw new Refused("malformed");
  // Before the body is hashed, so that an old message costs nothing.
  if (sentAtSeconds !== null && Math.abs(unixSeconds(now) - sentAtSeconds) > toleranceSeconds) {
    throw new Refused("expired");
  }
  for (const key of keys) {
    const digest = createHmac(algorithm, key).update(before).update(rawBody).digest();
    if (given.map((one) => timingSafeEqual(one, digest)).includes(true)) return digest;
  }
  throw new Refused("wrong");
}

/** The bytes that a text stands for; null when it is not of this encoding, or stands for none. */
function decode(text: string, encoding: Encoding): Buffer | null {
  const bytes = Buffer.from(ENCODINGS[encoding].test(text) ? text : "", encoding);
  return bytes.length > 0 ? bytes : null;
}

const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);
