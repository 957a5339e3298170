import { createHmac } from "node:crypto";

/**
 * Returns the keys that a sender of this type may sign with. Standard Webhooks: behind `whsec_` the secret is base64; without
 * that it may be base64 or the key itself. Empty where nothing can be the key.
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signingKeys(type: string, secret: string): Buffer[] {
  if (type !== "standard-webhooks") return keep(Buffer.from(secret));
  const encoded = withoutPrefix(secret);
  const decoded = Buffer.from(/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? encoded : "", "base64");
  return encoded === secret ? keep(decoded, Buffer.from(secret)) : keep(decoded);
}

/**
 * Returns digests of a sender's secret. Two secrets are the same where they have one in common: that of the text, whatever
 * the scheme makes of it, or that of a key. A digest is an HMAC, which is equal for keys that HMAC does not tell apart.
 */
export function secretDigests(auth: {
  readonly type: string;
  readonly token?: string | undefined;
  readonly secret?: string | undefined;
}): string[] {
  const { type, token, secret } = auth;
  const keys = secret === undefined ? [] : signingKeys(type, secret);
  return [...keep(Buffer.from(withoutPrefix(token ?? secret ?? ""))), ...keys].map((key) =>
    createHmac("sha256", key).digest("base64url"),
  );
}

const withoutPrefix = (secret: string): string => secret.replace(/^whsec_/, "");

const keep = (...keys: Buffer[]): Buffer[] => keys.filter(({ length }) => length > 0);
