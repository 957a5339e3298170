import { type Command, InvalidArgumentError } from "commander";
import { EXPIRY_PATTERN, SCOPE_PATTERN, TOKEN_NAME_PATTERN } from "../../../shared/scopes.ts";
import { isTime } from "../../../shared/text/calendar.ts";
import { withExamples } from "../examples.ts";

/** Returns a parser that accepts what the configuration accepts. */
const matching = (pattern: string, advice: string) => (text: string) => {
  if (new RegExp(pattern).test(text)) return text;
  throw new InvalidArgumentError(`It must be ${advice}.`);
};
const scope = matching(
  SCOPE_PATTERN,
  "a list such as jobs:read,jobs:report; the scopes are jobs:read, jobs:report, jobs:create, jobs:write, gates:answer, runs:read, runs:write, hooks:NAME and admin",
);

function expiry(text: string): string {
  matching(EXPIRY_PATTERN, "a date such as 2027-06-30")(text);
  if (isTime(text)) return text;
  throw new InvalidArgumentError("It must be an existing date.");
}

/** `token …` */
export function addToken(program: Command): void {
  const token = program.command("token").description("Create tokens with scopes for the API.");
  withExamples(token, "signalbox token new --name ci --scopes jobs:read,jobs:report");

  const create = token
    .command("new")
    .description("Print a new token and the line of the configuration that makes it valid.")
    .requiredOption(
      "--name <name>",
      "name in the audit log",
      matching(TOKEN_NAME_PATTERN, "letters a to z, digits and -"),
    )
    .requiredOption("--scopes <list>", "scopes, separated by commas", (list: string) => list.split(",").map(scope))
    .option("--id-prefix <prefix>", "beginning of the ids of the jobs that the token can use")
    .option("--expires-at <date>", "when the token ends", expiry)
    .action(async (options: { name: string; scopes: string[]; idPrefix?: string; expiresAt?: string }) => {
      const { newToken } = await import("../../commands/service/newToken.ts");
      newToken(options);
    });
  withExamples(
    create,
    "signalbox token new --name ci --scopes jobs:read,jobs:report --id-prefix ci/",
    "signalbox token new --name my-laptop --scopes jobs:read,jobs:create --id-prefix laptop/",
    "signalbox token new --name grafana --scopes jobs:read,runs:read --expires-at 2027-06-30",
  );
}
