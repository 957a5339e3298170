import { createHmac, timingSafeEqual } from "node:crypto";
import { allTokens, type TokenList } from "../../../config/access/tokenList.ts";
import { parseJson } from "../../../shared/text/json.ts";
import type { IdempotencyKeys } from "../../idempotencyKey.ts";

/**
 * The use of a token: the beginning of its text, and the text that its key is derived from. The keys differ, so that no token is
 * good for the other purpose, whatever its beginning is changed to.
 */
const PURPOSES = {
  job: { prefix: "sbj_", key: "signalbox job token" },
  share: { prefix: "sbs_", key: "signalbox share link" },
  person: { prefix: "sbp_", key: "signalbox log-in of a person" },
  login: { prefix: "sbl_", key: "signalbox begun log-in" },
} as const;
export type Purpose = keyof typeof PURPOSES;

/** Maximum bytes of a content as JSON, of which base64url makes 3,800 characters: cookies have at most 4,096 bytes. */
export const MAX_CONTENT_BYTES = 2_850;
const FORM = /^(sb[jspl]_)([\w-]{1,3800})\.([\w-]{43})$/;

/** Seals and opens texts with the secret of the service. */
export class Seals {
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #secrets: readonly string[];

  /** @param settings the secrets; without any, a secret of the database is used */
  constructor(
    idempotencyKeys: IdempotencyKeys,
    { secret, apiToken }: { readonly secret?: string | undefined; readonly apiToken?: TokenList },
  ) {
    this.#idempotencyKeys = idempotencyKeys;
    this.#secrets = secret === undefined ? allTokens(apiToken) : [secret];
  }

  /** Seals a content. */
  async seal(purpose: Purpose, content: readonly unknown[]): Promise<string> {
    const [secret] = await this.#allSecrets();
    return seal(purpose, content, secret as string);
  }

  /** Returns the content of a text that was sealed for a purpose; null for another text. */
  async open(purpose: Purpose, text: string): Promise<unknown[] | null> {
    return hasPurpose(text, purpose) ? unseal(purpose, text, await this.#allSecrets()) : null;
  }

  async #allSecrets(): Promise<readonly string[]> {
    return this.#secrets.length > 0 ? this.#secrets : [await this.#idempotencyKeys.deriveId("job tokens")];
  }
}

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
