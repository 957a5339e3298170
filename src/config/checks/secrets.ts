import { secretDigests } from "../formats/senderKeys.ts";
import { allTokens } from "../formats/tokenList.ts";
import type { Config } from "../schema/config.ts";
import { mappingKey } from "./mappings.ts";

/**
 * Returns a sentence for each mapping whose secret is also used by another mapping or by the service itself. A message that
 * is signed for one of two such mappings is valid for the other as well.
 */
export function sharedSecretFaults({ hooks, server }: Config): string[] {
  const own = [hooks.token, server.apiToken, server.readOnlyToken]
    .flatMap(allTokens)
    .flatMap((token) => secretDigests({ type: "token", token }));
  const secrets = hooks.mappings.flatMap((mapping, index) =>
    mapping.auth ? [{ mapping, auth: mapping.auth, index, digests: secretDigests(mapping.auth) }] : [],
  );
  return secrets.flatMap(({ mapping, auth, index, digests }, i) => {
    const key = `hooks.mappings.${index}.auth.${auth.token === undefined ? "secret" : "token"}`;
    const twin = secrets
      .slice(0, i)
      .find((other) => intersect(digests, other.digests) && !(auth.shared && other.auth.shared));
    return [
      ...(intersect(digests, own)
        ? [`${key} must be another secret than hooks.token and the tokens of server (apiToken, readOnlyToken)`]
        : []),
      ...(twin
        ? [
            `${key} is the secret of two mappings, ${mappingKey(twin.mapping)} (hooks.mappings.${twin.index}) and ${mappingKey(mapping)}: give each of them a secret of its own, or set auth.shared to true in both`,
          ]
        : []),
    ];
  });
}

const intersect = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((digest) => others.includes(digest));
