import { hash, type KeyObject } from "node:crypto";
import { secretsEqual } from "../../shared/access/secretsEqual.ts";
import { type HeaderValues, readSignature, type SenderSignature, type SignedAuth } from "./readSignature.ts";
import { readSendgridHeaders, type SendgridAuth, verifySendgrid } from "./sendgrid.ts";
import { type RefusalReason, SenderRefusedError, verifySignature } from "./signature.ts";
import { checkSnsHeaders, readSnsMessage, type SnsAuth, type SnsMessage, verifySnsMessage } from "./sns.ts";

/** How the sender of a mapping authenticates: by a token of its own, or by a signature. */
export type SenderAuth = TokenAuth | SignedAuth | SendgridAuth | SnsAuth;

interface TokenAuth {
  readonly type: "token";
  readonly token: string;
  /** A header in which the token may arrive besides those of the hook token. */
  readonly header?: string | undefined;
}

export interface SenderRequest {
  /** By lower-case name. */
  readonly headers: HeaderValues;
  /** All tokens of the request, whether from a header or from the URL. */
  readonly tokens: readonly string[];
  readonly rawBody: Buffer;
  readonly now: Date;
  /** For `sns`: the key of the certificate that the message names; null if there is no valid one. */
  readonly snsKey?: KeyObject | null;
}

/**
 * The result of `verifySender`.
 *
 * `replayKey` serves as an idempotency key: it is the same when a message arrives again and differs for every other message
 * of this sender. It is null for a token, which does not depend on the message. Schemes without a signed time or id cannot
 * distinguish two messages with the same bytes: both have the same key. The key reveals no secret.
 *
 * `reason` is only for the log, because all refused senders get the same response. `expired` does not mean that the
 * signature was valid.
 */
export type SenderVerification =
  | { readonly ok: true; readonly replayKey: string | null }
  | { readonly ok: false; readonly reason: RefusalReason };

/**
 * Returns why a request cannot come from the sender, as far as the headers show it before the body is read. Returns null if
 * a token matches, or if there is a signature to verify.
 */
export function findHeaderFault(
  auth: SenderAuth,
  { headers, tokens }: Pick<SenderRequest, "headers" | "tokens">,
): RefusalReason | null {
  try {
    if (auth.type === "token") verifyToken(auth, { headers, tokens });
    else if (auth.type === "sendgrid") readSendgridHeaders(headers);
    else if (auth.type === "sns") checkSnsHeaders(auth, headers);
    else readSignature(auth, headers);
    return null;
  } catch (error) {
    if (error instanceof SenderRefusedError) return error.reason;
    throw error;
  }
}

/**
 * Verifies, by the rules of the sender's scheme, that a request comes from a sender that has the secret.
 * @throws Error if the secret is empty, or is not base64 although its prefix promises that
 */
export function verifySender(auth: SenderAuth, request: SenderRequest): SenderVerification {
  try {
    if (auth.type === "token") {
      verifyToken(auth, request);
      return { ok: true, replayKey: null };
    }
    if (auth.type === "sendgrid") {
      verifySendgrid(auth, request.headers, request.rawBody, request.now);
      // The body identifies the message, since its events have ids. ECDSA has several signatures for one message.
      return { ok: true, replayKey: `sendgrid:${hash("sha256", request.rawBody, "base64url")}` };
    }
    if (auth.type === "sns") {
      const message = readSnsMessage(auth, request.rawBody);
      verifySnsMessage(auth, message, request.snsKey ?? null, request.now);
      return { ok: true, replayKey: `sns:${message.MessageId}` };
    }
    const signature = readSignature(auth, request.headers);
    const digest = verifySignature(signature, request.rawBody, request.now);
    return { ok: true, replayKey: replayKey(auth, signature, digest) };
  } catch (error) {
    if (error instanceof SenderRefusedError) return { ok: false, reason: error.reason };
    throw error;
  }
}

/** Returns the message of Amazon SNS in a body, not verified; null if there is none of the sender's topics. */
export function findSnsMessage(auth: SenderAuth, rawBody: Buffer): SnsMessage | null {
  if (auth.type !== "sns") return null;
  try {
    return readSnsMessage(auth, rawBody);
  } catch (error) {
    if (error instanceof SenderRefusedError) return null;
    throw error;
  }
}

function verifyToken(
  { token, header }: TokenAuth,
  { headers, tokens }: Pick<SenderRequest, "headers" | "tokens">,
): void {
  if (token === "") throw new Error("The token of a sender must not be empty");
  const own = header === undefined ? undefined : headers[header.toLowerCase()];
  const given = [...tokens, ...[own ?? []].flat()];
  if (given.length === 0) throw new SenderRefusedError("missing");
  const matches = given.map((candidate) => secretsEqual(candidate, token));
  if (!matches.includes(true)) throw new SenderRefusedError("wrong");
}

function replayKey({ type }: SignedAuth, { id }: SenderSignature, digest: Buffer): string {
  if (id !== undefined) return `${type}:${id}`;
  // The key holds a hash of the signature: the signature itself would let a reader of the key forge the request.
  return `${type}:${hash("sha256", digest, "base64url")}`;
}
