import { hash } from "node:crypto";
import { secretsEqual } from "../../shared/secretsEqual.ts";
import { type Claim, type HeaderValues, readClaim, type SignedAuth } from "./readSignature.ts";
import { checkClaim, type RefusalReason, Refused } from "./signature.ts";

/** How the sender of a mapping proves itself: by a token of its own, or by a signature. */
export type SenderAuth = { readonly type: "token"; readonly token: string } | SignedAuth;

export interface SenderRequest {
  /** By lower-case name. */
  readonly headers: HeaderValues;
  /** The tokens that came with the request, wherever they may stand. */
  readonly tokens: readonly string[];
  readonly rawBody: Buffer;
  readonly now: Date;
}

/**
 * `replayKey` is the same for a message that arrives again and another for any other message of this sender, so that it
 * serves as an idempotency key; null for a token, which says nothing of the message. Schemes without a signed time or id do
 * not tell two messages with the same bytes apart: they are one message. It gives no secret away.
 * `reason` is for the log, all of them get the same answer; `expired` does not mean that the signature was right.
 */
export type Proof =
  | { readonly ok: true; readonly replayKey: string | null }
  | { readonly ok: false; readonly reason: RefusalReason };

/**
 * Why a request cannot come from the sender, as far as that is seen before its body is read; null where a token fits, or a
 * signature is there to be checked.
 */
export function headersFault(
  auth: SenderAuth,
  { headers, tokens }: Pick<SenderRequest, "headers" | "tokens">,
): RefusalReason | null {
  try {
    if (auth.type === "token") checkToken(auth.token, tokens);
    else readClaim(auth, headers);
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.reason;
    throw error;
  }
}

/**
 * Whether a request comes from the sender that knows the secret, by that sender's own rules.
 * @throws Error when the secret is empty, or is no base64 where it says that it is
 */
export function checkSender(auth: SenderAuth, request: SenderRequest): Proof {
  try {
    if (auth.type === "token") {
      checkToken(auth.token, request.tokens);
      return { ok: true, replayKey: null };
    }
    const claim = readClaim(auth, request.headers);
    const digest = checkClaim(claim, request.rawBody, request.now);
    return { ok: true, replayKey: replayKey(auth, claim, digest) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, reason: error.reason };
    throw error;
  }
}

function checkToken(token: string, given: readonly string[]): void {
  if (token === "") throw new Error("The token of a sender must not be empty");
  if (given.length === 0) throw new Refused("missing");
  const fits = given.map((one) => secretsEqual(one, token));
  if (!fits.includes(true)) throw new Refused("wrong");
}

function replayKey({ type }: SignedAuth, { id }: Claim, digest: Buffer): string {
  if (id !== undefined) return `${type}:${id}`;
  // Not the signature itself, which would open the door to whoever reads the key in time.
  return `${type}:${hash("sha256", digest, "base64url")}`;
}
