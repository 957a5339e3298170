import { signingKeys } from "../../shared/config/formats/senderKeys.ts";
import { type Algorithm, type Encoding, Refused, type SignatureClaim } from "./signature.ts";

/**
 * The senders that sign. Secrets are not empty. `toleranceSeconds` is how far a signed time stamp may be from now, in
 * either direction, default 300.
 *
 * - `github`: `X-Hub-Signature-256`; the SHA-1 one is not looked at.
 * - `stripe`: `Stripe-Signature`, any of its `v1` entries.
 * - `slack`: `X-Slack-Signature`, `X-Slack-Request-Timestamp`.
 * - `standard-webhooks`: `webhook-id`, `-timestamp` and `-signature`, or the same as `svix-…`; any `v1` signature. Behind
 *   `whsec_` the secret is base64; without that it may be base64 or the key itself.
 * - `hmac`: `header` is `prefix` and then the HMAC of the body in `encoding`. With `timestampHeader` it is the HMAC of
 *   that header's value as it stands, a full stop and the body; the value is Unix time in seconds or milliseconds.
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

const DEFAULT_TOLERANCE_SECONDS = 300;

/** A claim; with the id of the message where the scheme has one. */
export type Claim = SignatureClaim & { readonly id?: string };

/**
 * Reads what a request with these headers, by lower-case name, claims. Proves nothing yet.
 * @throws Refused; Error when the secret is of no use
 */
export function readClaim(auth: SignedAuth, headers: HeaderValues): Claim {
  const common = { algorithm: "sha256", encoding: "hex", keys: keysOf(auth), before: "", sentAtSeconds: null } as const;
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS }: Tolerance = auth.type === "github" ? {} : auth;
  switch (auth.type) {
    case "github": {
      const signatures = [behind("sha256=", one(headers, "x-hub-signature-256"))];
      return { ...common, toleranceSeconds, signatures };
    }
    case "stripe": {
      const entries = one(headers, "stripe-signature")
        .split(",")
        .map((entry) => entry.split("=", 2) as [string, string?]);
      const valuesOf = (name: string) => entries.filter(([key]) => key === name).map(([, value = ""]) => value);
      const [timestamp, ...more] = valuesOf("t");
      if (timestamp === undefined || more.length > 0) throw new Refused("malformed");
      const signatures = valuesOf("v1");
      return { ...common, toleranceSeconds, signatures, before: `${timestamp}.`, sentAtSeconds: whole(timestamp) };
    }
    case "slack": {
      const timestamp = one(headers, "x-slack-request-timestamp");
      const signatures = [behind("v0=", one(headers, "x-slack-signature"))];
      return { ...common, toleranceSeconds, signatures, before: `v0:${timestamp}:`, sentAtSeconds: whole(timestamp) };
    }
    case "standard-webhooks": {
      const family = headers["webhook-signature"] === undefined ? "svix" : "webhook";
      const id = one(headers, `${family}-id`);
      const timestamp = one(headers, `${family}-timestamp`);
      const signatures = one(headers, `${family}-signature`)
        .split(" ")
        .filter((signature) => signature.startsWith("v1,"))
        .map((signature) => signature.slice(3));
      const signed = { before: `${id}.${timestamp}.`, sentAtSeconds: whole(timestamp) };
      return { ...common, toleranceSeconds, encoding: "base64", signatures, ...signed, id };
    }
    case "hmac": {
      const { algorithm = "sha256", encoding = "hex", prefix = "", header, timestampHeader } = auth;
      const signatures = [behind(prefix, one(headers, header.toLowerCase()))];
      const claim = { ...common, toleranceSeconds, algorithm, encoding, signatures };
      if (timestampHeader === undefined) return claim;
      const timestamp = one(headers, timestampHeader.toLowerCase());
      return { ...claim, before: `${timestamp}.`, sentAtSeconds: secondsOf(whole(timestamp)) };
    }
  }
}

function keysOf({ type, secret }: SignedAuth): Buffer[] {
  if (secret === "") throw new Error(`The secret of a ${type} sender must not be empty`);
  const keys = signingKeys(type, secret);
  if (keys.length === 0) throw new Error("The secret of a standard-webhooks sender must be base64 behind whsec_");
  return keys;
}

/** A header that came once. */
function one(headers: HeaderValues, name: string): string {
  const value = headers[name];
  if (value === undefined || value === "") throw new Refused("missing");
  if (typeof value !== "string") throw new Refused("malformed");
  return value;
}

function behind(prefix: string, value: string): string {
  if (!value.startsWith(prefix)) throw new Refused("malformed");
  return value.slice(prefix.length);
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new Refused("malformed");
  return Number(text);
}

/** Unix time in seconds, of one in seconds or milliseconds: 10^11 is the year 5138 in the one, 1973 in the other. */
const secondsOf = (time: number): number => (time < 1e11 ? time : Math.floor(time / 1000));
