import { signingKeys } from "../../shared/access/signingKeys.ts";
import { type Algorithm, type Encoding, SenderRefusedError, type Signature } from "./signature.ts";

/**
 * How senders sign. Secrets are not empty. `toleranceSeconds` is the maximum distance between a signed time stamp and now,
 * in either direction (default 300).
 *
 * - `github`: `X-Hub-Signature-256`; the SHA-1 header is ignored.
 * - `stripe`: `Stripe-Signature`, any of its `v1` entries.
 * - `slack`: `X-Slack-Signature`, `X-Slack-Request-Timestamp`.
 * - `standard-webhooks`: `webhook-id`, `-timestamp` and `-signature`, or the same as `svix-…`; any `v1` signature. After
 *   `whsec_` the secret is base64; without that prefix it may be base64 or the key itself.
 * - `hmac`: `header` is `prefix` followed by the HMAC of the body in `encoding`; with a prefix, several of them may be
 *   separated by commas. With `timestampHeader` the HMAC covers that header's value as it arrived, a full stop and the body; the
 *   value is Unix time in seconds or milliseconds.
 */
export type SignedAuth =
  | { readonly type: "github"; readonly secret: string }
  | ({ readonly type: "stripe" | "slack" | "standard-webhooks"; readonly secret: string } & Tolerance)
  | ({
      readonly type: "hmac";
      readonly secret: string;
      readonly header: string;
      readonly algorithm?: Algorithm | undefined;
      readonly encoding?: Encoding | undefined;
      readonly prefix?: string | undefined;
      readonly timestampHeader?: string | undefined;
    } & Tolerance);

interface Tolerance {
  readonly toleranceSeconds?: number | undefined;
}

export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

export const DEFAULT_TOLERANCE_SECONDS = 300;

/** A signature with the id of the message, if the scheme has one. */
export type SenderSignature = Signature & { readonly id?: string };

/**
 * Reads the signature from the headers of a request, without verifying it.
 * @param headers by lower-case name
 * @throws SenderRefusedError if a header is missing or malformed; Error if the secret cannot be used
 */
export function readSignature(auth: SignedAuth, headers: HeaderValues): SenderSignature {
  const keys = signingKeysOf(auth);
  const common = { algorithm: "sha256", encoding: "hex", keys, signedPrefix: "", signedAtSeconds: null } as const;
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: Tolerance = auth.type === "github" ? {} : auth;
  switch (auth.type) {
    case "github": {
      const digests = [withoutPrefix("sha256=", singleHeader(headers, "x-hub-signature-256"))];
      return { ...common, toleranceSeconds, digests };
    }
    case "stripe": {
      const entries = singleHeader(headers, "stripe-signature")
        .split(",")
        .map((entry) => entry.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "").split("=", 2) as [string, string?]);
      const valuesOf = (name: string) => entries.filter(([key]) => key === name).map(([, value = ""]) => value);
      const [timestamp, ...more] = valuesOf("t");
      if (timestamp === undefined || more.length > 0) throw new SenderRefusedError("malformed");
      const signed = { signedPrefix: `${timestamp}.`, signedAtSeconds: parseDigits(timestamp) };
      return { ...common, toleranceSeconds, digests: valuesOf("v1"), ...signed };
    }
    case "slack": {
      const timestamp = singleHeader(headers, "x-slack-request-timestamp");
      const digests = [withoutPrefix("v0=", singleHeader(headers, "x-slack-signature"))];
      const signed = { signedPrefix: `v0:${timestamp}:`, signedAtSeconds: parseDigits(timestamp) };
      return { ...common, toleranceSeconds, digests, ...signed };
    }
    case "standard-webhooks": {
      const family = headers["webhook-signature"] === undefined ? "svix" : "webhook";
      const id = singleHeader(headers, `${family}-id`);
      const timestamp = singleHeader(headers, `${family}-timestamp`);
      const entries = singleHeader(headers, `${family}-signature`).matchAll(STANDARD_SIGNATURE);
      const digests = Array.from(entries, ([, digest = ""]) => digest);
      const signed = { signedPrefix: `${id}.${timestamp}.`, signedAtSeconds: parseDigits(timestamp) };
      return { ...common, toleranceSeconds, encoding: "base64", digests, ...signed, id };
    }
    case "hmac": {
      const { algorithm = "sha256", encoding = "hex", prefix = "", header, timestampHeader } = auth;
      const value = singleHeader(headers, header.toLowerCase());
      // A sender may send several signatures while one secret replaces another. A proxy that joins headers adds a space.
      const entries =
        prefix === "" ? [value] : value.split(`,${prefix}`).map((entry, i) => (i ? prefix + entry : entry));
      const digests = entries.map((entry) => withoutPrefix(prefix, entry));
      const signature = { ...common, toleranceSeconds, algorithm, encoding, digests };
      if (timestampHeader === undefined) return signature;
      const timestamp = singleHeader(headers, timestampHeader.toLowerCase());
      return { ...signature, signedPrefix: `${timestamp}.`, signedAtSeconds: toSeconds(parseDigits(timestamp)) };
    }
  }
}

/**
 * Matches one `v1` signature of Standard Webhooks. Signatures are separated by spaces; a proxy that joins several headers
 * adds a comma, and some senders write a space after the comma of the version.
 */
const STANDARD_SIGNATURE = /(?<=^|[\s,])v1,[ \t]*([^\s,]+)/g;

function signingKeysOf({ type, secret }: SignedAuth): Buffer[] {
  if (secret === "") throw new Error(`The secret of a ${type} sender must not be empty`);
  const keys = signingKeys(type, secret);
  if (keys.length === 0) throw new Error("The secret of a standard-webhooks sender must be base64 after whsec_");
  return keys;
}

/** Returns the value of a header that must have arrived exactly once and must not be empty. */
export function singleHeader(headers: HeaderValues, name: string): string {
  const value = headers[name];
  if (value === undefined || value === "") throw new SenderRefusedError("missing");
  if (typeof value !== "string") throw new SenderRefusedError("malformed");
  return value;
}

function withoutPrefix(prefix: string, value: string): string {
  if (!value.startsWith(prefix)) throw new SenderRefusedError("malformed");
  return value.slice(prefix.length).trim();
}

export function parseDigits(text: string): number {
  if (!/^\d+$/.test(text)) throw new SenderRefusedError("malformed");
  return Number(text);
}

/** Converts Unix time in seconds or milliseconds to seconds: 10^11 is the year 5138 in seconds, 1973 in milliseconds. */
const toSeconds = (time: number): number => (time < 1e11 ? time : Math.floor(time / 1000));
