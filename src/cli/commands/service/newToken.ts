import { hash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { EXPIRY_PATTERN, SCOPE_PATTERN, TOKEN_NAME_PATTERN } from "../../../shared/access/scopes.ts";
import { isTime } from "../../../shared/text/duration.ts";
import { type Define, withExamples } from "../../command.ts";
import { generateSecret } from "../../start/savedToken.ts";

interface NewToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly idPrefix?: string;
  readonly expiresAt?: string;
}

/** Returns a parser that accepts what the configuration accepts. */
const matching = (pattern: string, advice: string) => (text: string) => {
  if (new RegExp(pattern).test(text)) return text;
  throw new InvalidArgumentError(`It must be ${advice}.`);
};

const scope = matching(
  SCOPE_PATTERN,
  "a list such as jobs:read,jobs:create; the scopes are jobs:read, jobs:report, jobs:create, jobs:write, gates:answer, runs:read, runs:write, hooks:NAME and admin",
);

function expiry(text: string): string {
  matching(EXPIRY_PATTERN, "a date such as 2027-06-30")(text);
  if (isTime(text)) return text;
  throw new InvalidArgumentError("It must be an existing date.");
}

/**
 * `token new`: prints a fresh token, and the entry of `server.tokens` that makes it valid. The entry has only the hash of the
 * token, so that the configuration reveals nothing.
 */
export const newToken: Define = (command) =>
  withExamples(
    command
      .requiredOption(
        "--name <name>",
        "name in the audit log",
        matching(TOKEN_NAME_PATTERN, "letters a to z, digits and -"),
      )
      .requiredOption("--scopes <list>", "scopes, separated by commas", (list: string) => list.split(",").map(scope))
      .option("--id-prefix <prefix>", "beginning of the ids of the jobs that the token can use")
      .option("--expires-at <date>", "when the token ends", expiry),
    "signalbox token new --name ci --scopes jobs:read,jobs:create --id-prefix ci/",
    "signalbox token new --name my-laptop --scopes jobs:read,jobs:create --id-prefix laptop/",
    "signalbox token new --name grafana --scopes jobs:read,runs:read --expires-at 2027-06-30",
  ).action(({ name, scopes, idPrefix, expiresAt }: NewToken) => {
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
  });
