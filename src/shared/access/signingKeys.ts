import { createHmac, createPublicKey, type KeyObject } from "node:crypto";

/**
 * Returns the secrets in the text that a Standard Webhooks sender shows. Some show the version of the signature before it
 * (`v1,whsec_…`), and several such secrets with `|` between them while one replaces another.
 * Source: https://supabase.com/docs/guides/auth/auth-hooks
 */
export const standardSecrets = (text: string): string[] =>
  /^v1a?,wh/.test(text) ? text.split("|").map((one) => one.trim().replace(/^v1a?,/, "")) : [text];

/**
 * Returns the keys that a sender of this type may sign with; none when no key can be derived. In Standard Webhooks, a secret
 * with the prefix `whsec_` is base64; one without it may be base64 or the key itself.
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signingKeys(type: string, secret: string): Buffer[] {
  if (type !== "standard-webhooks") return nonEmpty(Buffer.from(secret));
  return standardSecrets(secret).flatMap(standardKeys);
}

function standardKeys(secret: string): Buffer[] {
  const encoded = withoutPrefix(secret);
  const decoded = Buffer.from(/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? encoded : "", "base64");
  return encoded === secret ? nonEmpty(decoded, Buffer.from(secret)) : nonEmpty(decoded);
}

/** Parses a public key that a sender shows as base64 of its DER form. @throws Error if it is none */
export const publicKeyOf = (text: string): KeyObject =>
  createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });

/**
 * Returns digests of a sender's secret: of its text, and of each key that the scheme derives from it. Two secrets are the
 * same when they have a digest in common. The digests are HMACs, because HMAC treats some different keys as equal.
 */
export function secretDigests(auth: {
  readonly type: string;
  readonly token?: string | undefined;
  readonly secret?: string | undefined;
}): string[] {
  const { type, token, secret } = auth;
  const keys = secret === undefined ? [] : signingKeys(type, secret);
  return [...nonEmpty(Buffer.from(withoutPrefix(token ?? secret ?? ""))), ...keys].map((key) =>
    createHmac("sha256", key).digest("base64url"),
  );
}

const withoutPrefix = (secret: string): string => secret.replace(/^whsec_/, "");

const nonEmpty = (...keys: Buffer[]): Buffer[] => keys.filter(({ length }) => length > 0);
