import { createHmac, timingSafeEqual } from "node:crypto";
import { parseJson } from "../../../shared/text/json.ts";

/**
 * What a token is for: the beginning of its text, and the text that its key is derived from. The keys differ, so that no token is
 * good for the other purpose, whatever its beginning is changed to.
 */
const PURPOSES = {
  job: { prefix: "sbj_", key: "signalbox job token" },
  share: { prefix: "sbs_", key: "signalbox share link" },
} as const;
export type Purpose = keyof typeof PURPOSES;

const FORM = /^(sb[js]_)([\w-]{1,2048})\.([\w-]{43})$/;

/** Returns whether a text looks like a token for a purpose, whether it is valid or not. */
export const hasPurpose = (token: string, purpose: Purpose): boolean => token.startsWith(PURPOSES[purpose].prefix);

/**
 * Seals the content of a token. It is stored nowhere: the content and an HMAC-SHA256 of it are the token.
 * @param secret a secret of the service
 */
export function seal(purpose: Purpose, content: readonly unknown[], secret: string): string {
  const text = Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${PURPOSES[purpose].prefix}${text}.${mac(purpose, text, secret).toString("base64url")}`;
}

/**
 * Returns the content of a token that one of the secrets has sealed for a purpose, or null.
 * @param secrets several while one replaces another
 */
export function unseal(purpose: Purpose, token: string, secrets: readonly string[]): unknown[] | null {
  const [, prefix, text, given] = FORM.exec(token) ?? [];
  if (prefix !== PURPOSES[purpose].prefix || text === undefined || given === undefined) return null;
  const sealed = Buffer.from(given, "base64url");
  const isSealed = secrets.map((secret) => timingSafeEqual(mac(purpose, text, secret), sealed)).includes(true);
  return isSealed ? (parseJson(Buffer.from(text, "base64url").toString()) as unknown[]) : null;
}

function mac(purpose: Purpose, text: string, secret: string): Buffer {
  const key = createHmac("sha256", secret).update(PURPOSES[purpose].key).digest();
  return createHmac("sha256", key).update(text).digest();
}
