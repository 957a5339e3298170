import { verify } from "node:crypto";
import { publicKeyOf } from "../../shared/access/signingKeys.ts";
import { DEFAULT_TOLERANCE_SECONDS, type HeaderValues, parseDigits, singleHeader } from "./readSignature.ts";
import { checkTime, SenderRefusedError } from "./signature.ts";

/**
 * Twilio SendGrid's signed Event Webhook: ECDSA over the time stamp and the body. `publicKey` is the verification key of its
 * settings page, in base64.
 * Source: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export interface SendgridAuth {
  readonly type: "sendgrid";
  readonly publicKey: string;
  readonly toleranceSeconds?: number | undefined;
}

const SIGNATURE = "x-twilio-email-event-webhook-signature";
const TIMESTAMP = "x-twilio-email-event-webhook-timestamp";

/** Reads the signature and its time from the headers. @throws SenderRefusedError */
export function readSendgridHeaders(headers: HeaderValues) {
  const signature = Buffer.from(singleHeader(headers, SIGNATURE), "base64");
  if (signature.length === 0) throw new SenderRefusedError("malformed");
  const timestamp = singleHeader(headers, TIMESTAMP);
  return { signature, timestamp, signedAtSeconds: parseDigits(timestamp) };
}

/** Verifies the signature of a request. @throws SenderRefusedError */
export function verifySendgrid(auth: SendgridAuth, headers: HeaderValues, rawBody: Buffer, now: Date): void {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = auth;
  const { signature, timestamp, signedAtSeconds } = readSendgridHeaders(headers);
  checkTime(signedAtSeconds, toleranceSeconds, now);
  const signed = Buffer.concat([Buffer.from(timestamp), rawBody]);
  if (!verify("sha256", signed, publicKeyOf(auth.publicKey), signature)) throw new SenderRefusedError("wrong");
}
