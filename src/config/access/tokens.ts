import { hash } from "node:crypto";
import Type, { type Static } from "typebox";
import { EXPIRY_PATTERN, TOKEN_NAME_PATTERN } from "../../shared/access/scopes.ts";
import { isTime } from "../../shared/text/duration.ts";
import { type Check, type Frozen, text, token } from "../nodes.ts";
import { grantFaults, grantKeys } from "./grant.ts";
import { allTokens, needsLogin, type TokenList } from "./tokenList.ts";

/** One entry of `server.tokens`. */
export const TokenSchema = Type.Object(
  {
    name: text({
      pattern: TOKEN_NAME_PATTERN,
      examples: ["ci"],
      description: "Name of the token in the audit log and the dashboard. Unique.",
    }),
    token: Type.Optional(token({ description: "The token. At least 16 characters. Instead of `tokenSha256`." })),
    tokenSha256: Type.Optional(
      text({
        pattern: "^[0-9a-f]{64}$",
        examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
        description: "SHA-256 of the token in lower-case hexadecimal. Instead of `token`.",
      }),
    ),
    ...grantKeys,
    expiresAt: Type.Optional(
      text({
        pattern: EXPIRY_PATTERN,
        examples: ["2027-06-30"],
        description:
          "When the token stops being valid: a date, which is its beginning in UTC, or a time such as `2027-06-30T18:00:00Z`.",
      }),
    ),
  },
  { additionalProperties: false },
);

type Token = Frozen<Static<typeof TokenSchema>>;
type Faults = readonly (string | false)[];

/** The tokens that clients and senders show, and the names of the hooks. */
interface Tokens {
  readonly server: {
    readonly apiToken?: TokenList;
    readonly readOnlyToken?: TokenList;
    readonly tokens: readonly Token[];
    readonly oidc?: unknown;
    readonly userHeader?: unknown;
  };
  readonly hooks: {
    readonly enabled: boolean;
    readonly token?: TokenList;
    readonly mappings: readonly { readonly match?: { readonly path?: string } }[];
  };
}

/** The names of callers without an entry in `server.tokens`. */
const RESERVED = ["api-token", "read-only-token", "hook-token", "anonymous"];

export const tokenChecks: readonly Check<Tokens>[] = [
  {
    reads: [
      "hooks.enabled",
      "hooks.token",
      "server.apiToken",
      "server.readOnlyToken",
      "server.oidc",
      "server.userHeader",
    ],
    find: tokenFaults,
  },
  {
    reads: [
      "server.tokens",
      "server.apiToken",
      "server.readOnlyToken",
      "server.oidc",
      "server.userHeader",
      "hooks.token",
      "hooks.mappings",
    ],
    find: scopedTokenFaults,
  },
];

/** Returns a sentence for each fault in the tokens of the service itself. */
function tokenFaults({ server, hooks }: Tokens): Faults {
  const { apiToken, readOnlyToken } = server;
  const isClosed = needsLogin(server);
  const [api, read, hook] = [apiToken, readOnlyToken, hooks.token].map(allTokens) as [string[], string[], string[]];
  return [
    hooks.enabled &&
      hook.length === 0 &&
      "hooks.enabled is true and hooks.token is not set: set a secret of at least 16 characters there, or in SIGNALBOX_HOOKS_TOKEN",
    hook.some((token) => api.includes(token)) &&
      "hooks.token is the same as server.apiToken: give the senders of hooks a token of their own",
    read.length > 0 &&
      !isClosed &&
      "server.readOnlyToken is set and server.apiToken is not: everybody could change everything; set server.apiToken too",
    read.some((token) => [...api, ...hook].includes(token)) &&
      "server.readOnlyToken must be another secret than server.apiToken and hooks.token",
  ];
}

/** Returns a sentence for each fault in `server.tokens`. */
function scopedTokenFaults({ server, hooks }: Tokens): Faults {
  const { tokens, apiToken, readOnlyToken } = server;
  const names = tokens.map(({ name }) => name);
  const own = [apiToken, readOnlyToken, hooks.token].flatMap(allTokens).map(sha256);
  const digests = tokens.map(digestOf);
  return [
    tokens.length > 0 &&
      !needsLogin(server) &&
      "server.tokens is set and server.apiToken is not: everybody could change everything; set server.apiToken too",
    ...tokens.flatMap((token, i) => {
      const { name, expiresAt } = token;
      const digest = digests[i];
      return [
        ...grantFaults(token, { hooks }),
        RESERVED.includes(name) && `name must not be ${name}: the audit log uses this name for other callers`,
        names.indexOf(name) < i && `name is used twice: server.tokens.${names.indexOf(name)} has the name ${name} too`,
        (token.token === undefined) === (token.tokenSha256 === undefined) &&
          "needs either token or tokenSha256: run `signalbox token new` to create one",
        digest !== undefined &&
          own.includes(digest) &&
          "token must be another secret than server.apiToken, server.readOnlyToken and hooks.token",
        digest !== undefined &&
          digests.indexOf(digest) < i &&
          `token is the same as that of server.tokens.${digests.indexOf(digest)}: give each its own`,
        expiresAt !== undefined && !isTime(expiresAt) && "expiresAt must be an existing date or time",
      ].map((fault) => fault && `server.tokens.${i}.${fault}`.replace(/\.needs /, " needs "));
    }),
  ];
}

const sha256 = (token: string): string => hash("sha256", token, "hex");

const digestOf = ({ token, tokenSha256 }: Token): string | undefined =>
  token === undefined ? tokenSha256 : sha256(token);
