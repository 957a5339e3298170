import { createHmac } from "node:crypto";
import {
  type SenderAuth,
  type SenderRequest,
  type SenderVerification,
  verifySender,
} from "../../../src/hooks/signatures/verifySender.ts";

export type Headers = SenderRequest["headers"];
export type Refusal = Extract<SenderVerification, { ok: false }>["reason"];

export const SECRET = "a secret that only two know";
export const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const KEY_BYTES = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
export const BODY = '{"id":"evt_1","text":"Grüße 💶"}';
export const AT = 1_700_000_000;

export type Encoding = "hex" | "base64" | "base64url";

/** Returns the HMAC of the concatenated texts. */
export const hmac = (algorithm: string, encoding: Encoding, ...texts: (string | Buffer)[]) =>
  hmacWith(SECRET, algorithm, encoding, ...texts);

export function hmacWith(
  key: string | Buffer,
  algorithm: string,
  encoding: Encoding,
  ...texts: (string | Buffer)[]
): string {
  const hash = createHmac(algorithm, key);
  for (const text of texts) hash.update(text);
  return hash.digest(encoding);
}

/** Verifies a request with these headers that arrives at `at`, by default the time at which it was signed. */
export const check = (
  auth: SenderAuth,
  headers: Headers,
  { body = BODY as string | Buffer, at = AT } = {},
): SenderVerification =>
  verifySender(auth, { headers, tokens: [], rawBody: Buffer.from(body), now: new Date(at * 1000) });

export const refused = (reason: Refusal): SenderVerification => ({ ok: false, reason });

/** A sender: the names of the headers with its signature and its time stamp, and how it signs. */
export interface Scheme {
  readonly auth: SenderAuth;
  readonly signature: string;
  readonly timestamp?: string;
  sign(body?: string | Buffer, at?: number): Record<string, string>;
}

const GITHUB: Scheme = {
  auth: { type: "github", secret: SECRET },
  signature: "x-hub-signature-256",
  sign: (body = BODY) => ({ "x-hub-signature-256": `sha256=${hmac("sha256", "hex", body)}` }),
};

export const STRIPE: Scheme = {
  auth: { type: "stripe", secret: SECRET },
  signature: "stripe-signature",
  timestamp: "stripe-signature",
  sign: (body = BODY, at = AT) => ({ "stripe-signature": `t=${at},v1=${hmac("sha256", "hex", `${at}.`, body)}` }),
};

export const SLACK: Scheme = {
  auth: { type: "slack", secret: SECRET },
  signature: "x-slack-signature",
  timestamp: "x-slack-request-timestamp",
  sign: (body = BODY, at = AT) => ({
    "x-slack-request-timestamp": `${at}`,
    "x-slack-signature": `v0=${hmac("sha256", "hex", `v0:${at}:`, body)}`,
  }),
};

export const STANDARD: Scheme = {
  auth: { type: "standard-webhooks", secret: KEY },
  signature: "webhook-signature",
  timestamp: "webhook-timestamp",
  sign: (body = BODY, at = AT) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": `${at}`,
    "webhook-signature": `v1,${hmacWith(KEY_BYTES, "sha256", "base64", `msg_1.${at}.`, body)}`,
  }),
};

export const PLAIN: Scheme = {
  auth: { type: "hmac", secret: SECRET, header: "X-Signature" },
  signature: "x-signature",
  sign: (body = BODY) => ({ "x-signature": hmac("sha256", "hex", body) }),
};

export const STAMPED: Scheme = {
  auth: { type: "hmac", secret: SECRET, header: "X-Signature", prefix: "v1=", timestampHeader: "X-Timestamp" },
  signature: "x-signature",
  timestamp: "x-timestamp",
  sign: (body = BODY, at = AT) => ({
    "x-timestamp": `${at}`,
    "x-signature": `v1=${hmac("sha256", "hex", `${at}.`, body)}`,
  }),
};

export const SCHEMES: [string, Scheme][] = Object.entries({
  github: GITHUB,
  stripe: STRIPE,
  slack: SLACK,
  "standard-webhooks": STANDARD,
  hmac: PLAIN,
  "hmac with a time stamp": STAMPED,
});
export const STAMPED_SCHEMES = SCHEMES.filter(([, { timestamp }]) => timestamp !== undefined);
