import { hash } from "node:crypto";
import { isTime } from "../../shared/text/calendar.ts";
import { allTokens } from "../formats/tokenList.ts";
import type { Config } from "../schema/config.ts";
import { BUILT_IN_HOOKS } from "./mappings.ts";

type Faults = readonly (string | false)[];
type Token = Config["server"]["tokens"][number];

/** Returns a sentence for each fault in the tokens of the service itself. */
export function tokenFaults({ server, hooks }: Pick<Config, "server" | "hooks">): Faults {
  const { apiToken, readOnlyToken } = server;
  const [api, read, hook] = [apiToken, readOnlyToken, hooks.token].map(allTokens) as [string[], string[], string[]];
  return [
    hooks.enabled &&
      hook.length === 0 &&
      "hooks.enabled is true and hooks.token is not set: set a secret of at least 16 characters there, or in SIGNALBOX_HOOKS_TOKEN",
    hook.some((token) => api.includes(token)) &&
      "hooks.token is the same as server.apiToken: give the senders of hooks a token of their own",
    read.length > 0 &&
      api.length === 0 &&
      "server.readOnlyToken is set and server.apiToken is not: everybody could change everything; set server.apiToken too",
    read.some((token) => [...api, ...hook].includes(token)) &&
      "server.readOnlyToken must be another secret than server.apiToken and hooks.token",
  ];
}

/** Returns a sentence for each fault in `server.tokens`. */
export function scopedTokenFaults({ server, hooks }: Pick<Config, "server" | "hooks">): Faults {
  const { tokens, apiToken, readOnlyToken } = server;
  const names = tokens.map(({ name }) => name);
  const own = [apiToken, readOnlyToken, hooks.token].flatMap(allTokens).map(sha256);
  const digests = tokens.map(digestOf);
  const known = [...BUILT_IN_HOOKS, ...hooks.mappings.flatMap(({ match }) => match?.path ?? [])];
  return [
    tokens.length > 0 &&
      apiToken === undefined &&
      "server.tokens is set and server.apiToken is not: everybody could change everything; set server.apiToken too",
    ...tokens.flatMap((token, i) => {
      const { name, scopes, jobs, expiresAt } = token;
      const hookScopes = scopes.filter((scope) => scope.startsWith("hooks:")).map((scope) => scope.slice(6));
      const digest = digests[i];
      return [
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
        ...hookScopes.map(
          (hook) =>
            !known.includes(hook) &&
            `scopes has hooks:${hook}, and there is no such hook: use agent, wake, or the match.path of a mapping`,
        ),
        jobs !== undefined &&
          !scopes.some((scope) => /^(jobs:|gates:|admin$)/.test(scope)) &&
          "jobs has no effect without a scope for jobs: remove it, or add one such as jobs:read",
        jobs !== undefined &&
          scopes.includes("admin") &&
          "jobs has no effect with the scope admin, which allows everything: remove one of the two",
        expiresAt !== undefined && !isTime(expiresAt) && "expiresAt must be an existing date or time",
      ].map((fault) => fault && `server.tokens.${i}.${fault}`.replace(/\.needs /, " needs "));
    }),
  ];
}

/** The names of callers without an entry in `server.tokens`. */
const RESERVED = ["api-token", "read-only-token", "hook-token", "anonymous"];

const sha256 = (token: string): string => hash("sha256", token, "hex");

const digestOf = ({ token, tokenSha256 }: Token): string | undefined =>
  token === undefined ? tokenSha256 : sha256(token);
