import { createHmac, hash } from "node:crypto";
import { allTokens, type TokenList } from "../../config/access/tokenList.ts";
import type { Config } from "../../config/config.ts";
import { effectiveScopes } from "../../shared/access/scopes.ts";
import type { Identity } from "./caller.ts";

/** A configured token, without the token itself where the configuration has only its hash. */
export interface KnownToken {
  readonly identity: Identity;
  /** Identifies the token in a cookie. */
  readonly id: string;
  /** Keys for the cookies of browsers that log in with the token. The first one signs; each of them verifies. */
  readonly cookieKeys: readonly string[];
  /** SHA-256 of the token in hexadecimal. */
  readonly digest: string;
}

export interface TokenSettings {
  /** Replaces `apiToken` as the secret of the service. */
  readonly secret?: string | undefined;
  readonly apiToken?: TokenList;
  readonly readOnlyToken?: TokenList;
  readonly tokens?: Config["server"]["tokens"];
}

/** The scopes of `server.readOnlyToken`. */
const READ_ONLY = new Set(["jobs:read", "runs:read"]);
const WORDS = 8;
/** The beginning of the ids of the entries of `server.tokens`. */
const SCOPED = "token-";

/**
 * Finds configured tokens. The time of a search depends only on their number, not on which of them a given token is or how
 * much of one it has.
 */
export class TokenTable {
  readonly tokens: readonly KnownToken[];
  /** The SHA-256 digests of all tokens, one after the other. */
  readonly #digests: Uint32Array;
  readonly #byId: ReadonlyMap<string, readonly KnownToken[]>;

  constructor({ apiToken, readOnlyToken, tokens = [], secret }: TokenSettings) {
    const secrets = secret === undefined ? allTokens(apiToken) : [secret];
    const named = (actor: string, id: string, scopes: ReadonlySet<string>) => (token: string) => ({
      identity: { actor, grants: [{ scopes }] },
      id,
      cookieKeys: [token],
      digest: sha256(token),
    });
    this.tokens = [
      ...allTokens(apiToken).map(named("api-token", "full", new Set(["admin"]))),
      ...allTokens(readOnlyToken).map(named("read-only-token", "read", READ_ONLY)),
      ...tokens.map((one) => {
        const digest = one.tokenSha256 ?? sha256(one.token ?? "");
        const expiresAt = one.expiresAt === undefined ? undefined : new Date(one.expiresAt);
        const grants = [{ scopes: effectiveScopes(one.scopes), jobs: one.jobs }];
        return {
          identity: { actor: one.name, grants, expiresAt },
          id: `${SCOPED}${one.name}`,
          // the configuration reveals the digest, which alone must not let anybody sign a cookie
          cookieKeys: one.token === undefined ? secrets.map((key) => hmac(key, `cookies of ${digest}`)) : [one.token],
          digest,
        };
      }),
    ];
    this.#byId = Map.groupBy(this.tokens, ({ id }) => id);
    this.#digests = new Uint32Array(this.tokens.length * WORDS);
    for (const [i, { digest }] of this.tokens.entries()) this.#digests.set(words(digest), i * WORDS);
  }

  /**
   * Returns an entry of `server.tokens` that equals one of the given tokens, for hooks, which `server.apiToken` does not open.
   */
  findScoped(given: readonly string[], now: Date): KnownToken | undefined {
    const found = given.map((token) => this.find(token, now));
    return found.find((token) => token?.id.startsWith(SCOPED));
  }

  /** Returns the tokens that a cookie with an id may belong to: several while one replaces another. */
  withId(id: string): readonly KnownToken[] {
    return this.#byId.get(id) ?? [];
  }

  /** Returns the configured token that equals a given one and has not expired; undefined when there is none. */
  find(token: string, now: Date): KnownToken | undefined {
    const found = this.tokens[indexOfDigest(this.#digests, words(sha256(token)))];
    const { expiresAt } = found?.identity ?? {};
    return expiresAt === undefined || expiresAt > now ? found : undefined;
  }
}

/**
 * Returns the position of a digest in a row of digests, or -1. Compares all words of all digests, whatever it finds.
 * `timingSafeEqual` for each digest would take ten times as long.
 */
export function indexOfDigest(digests: ArrayLike<number>, given: ArrayLike<number>): number {
  let match = -1;
  for (let at = 0; at < digests.length; ) {
    let difference = 0;
    for (let word = 0; word < WORDS; word++, at++) difference |= (digests[at] ?? 0) ^ (given[word] ?? 0);
    match = difference === 0 ? at / WORDS - 1 : match;
  }
  return match;
}

const hmac = (key: string, text: string): string => createHmac("sha256", key).update(text).digest("base64url");

const sha256 = (token: string): string => hash("sha256", token, "hex");

function words(digest: string): Uint32Array {
  const bytes = new Uint8Array(Buffer.from(digest, "hex"));
  return new Uint32Array(bytes.buffer);
}
