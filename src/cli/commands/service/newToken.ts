import { hash } from "node:crypto";
import { generateSecret } from "../../start/savedToken.ts";

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly idPrefix?: string | undefined;
  readonly expiresAt?: string | undefined;
}

/**
 * `token new`: prints a fresh token, and the entry of `server.tokens` that makes it valid. The entry has only the hash of the
 * token, so that the configuration reveals nothing.
 */
export function newToken({ name, scopes, idPrefix, expiresAt }: NewToken): void {
  const token = generateSecret();
  const entry = [
    `name: ${JSON.stringify(name)}`,
    `tokenSha256: "${hash("sha256", token, "hex")}"`,
    `scopes: ${JSON.stringify(scopes).replaceAll(",", ", ")}`,
    ...(idPrefix === undefined ? [] : [`jobs: { idPrefix: ${JSON.stringify(idPrefix)} }`]),
    ...(expiresAt === undefined ? [] : [`expiresAt: ${JSON.stringify(expiresAt)}`]),
  ];
  console.log(
    [
      `Token: ${token}`,
      "It is shown only once. Clients send it as `Authorization: Bearer …`.",
      "",
      "Add this line to server.tokens in the configuration, then run `npx signalbox reload`:",
      `  { ${entry.join(", ")} },`,
    ].join("\n"),
  );
}
