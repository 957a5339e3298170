import Type from "typebox";
import { EXPIRY_PATTERN, SCOPE_PATTERN, TOKEN_NAME_PATTERN } from "../formats/scopes.ts";
import { text, token } from "../nodes.ts";

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
    scopes: Type.Array(Type.String({ pattern: SCOPE_PATTERN }), {
      minItems: 1,
      uniqueItems: true,
      examples: [["jobs:read", "jobs:report"]],
      description:
        "The scopes of the token: `jobs:read`, `jobs:report`, `jobs:create`, `jobs:write`, `gates:answer`, `runs:read`, `runs:write`, `hooks:agent`, `hooks:wake`, `hooks:NAME` for a mapped hook, and `admin` for everything.",
    }),
    jobs: Type.Optional(
      Type.Object(
        {
          idPrefix: text({
            maxLength: 200,
            examples: ["ci/"],
            description: "Beginning of the ids of the jobs that the token can use.",
          }),
        },
        { additionalProperties: false, description: "Limits the scopes for jobs to some of the jobs." },
      ),
    ),
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
