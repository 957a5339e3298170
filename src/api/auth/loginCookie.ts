import { createHmac, randomBytes } from "node:crypto";
import { hasPurpose } from "../../models/jobs/tokens/seal.ts";
import { secretsEqual } from "../../shared/access/secretsEqual.ts";
import type { Identity } from "./caller.ts";
import type { KnownToken, TokenTable } from "./tokenTable.ts";

/** The id of a configured token, the expiry in seconds, a nonce, and a signature. */
const SIGNED = /^([\w-]+)\.(\d{1,12})\.[\w-]{1,20}(?=\.[\w-]{43}$)/;

/**
 * Returns the value of a cookie for a browser that logs in with a token. It reveals no configured token, and a change of the
 * token invalidates it. Each log-in has its own, so that a log-out ends no other.
 * @param known the configured token; undefined for the token of a job, which is sealed already
 */
export function makeCookie(token: string, known: KnownToken | undefined, expiresAt: Date): string {
  const nonce = randomBytes(9).toString("base64url");
  if (!known) return `${nonce}.${token}`;
  const payload = `${known.id}.${Math.floor(expiresAt.getTime() / 1_000)}.${nonce}`;
  return sign(payload, known.cookieKeys[0] as string);
}

/** Returns the token of a job in a cookie; undefined when it is a cookie of another kind. */
export function jobTokenIn(cookie: string): string | undefined {
  const token = cookie.slice(cookie.indexOf(".") + 1);
  return hasPurpose(token, "job") ? token : undefined;
}

/**
 * Returns who the configured token that signed a cookie stands for, and until when the cookie is valid, which may have passed.
 * Compares the cookie with the signatures of the tokens that it names only, so that the time does not depend on the number of tokens.
 * @returns null when none of them has signed it
 */
export function verifyCookie(table: TokenTable, cookie: string): Identity | null {
  const [payload, id = "", seconds] = SIGNED.exec(cookie) ?? [];
  if (payload === undefined) return null;
  const isSignedWith = (key: string) => secretsEqual(cookie, sign(payload, key));
  const [token] = table.withId(id).filter(({ cookieKeys }) => cookieKeys.map(isSignedWith).includes(true));
  if (!token) return null;
  const { identity } = token;
  const endMs = Math.min(Number(seconds) * 1_000, identity.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  return { ...identity, expiresAt: new Date(endMs) };
}

const sign = (payload: string, key: string): string =>
  `${payload}.${createHmac("sha256", key).update(`signalbox session ${payload}`).digest("base64url")}`;
