import Type from "typebox";
import * as s from "../../../wire/blocks.ts";
import { requireScope } from "../../auth/authorize.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";

const DAY_SECONDS = 86_400;

const createJobToken = route({
  method: "post",
  path: "/api/jobs/:jobId/token",
  operationId: "createJobToken",
  scopes: ["jobs:write"],
  tag: "jobs",
  summary: "Create a token for a job",
  description:
    "Returns a token that is valid for this job only. Give it to the program or agent that does the work, instead of a token for everything. `report` reads the job, reports its steps and opens gates; `read` only reads it. Creating either needs the scope `jobs:read` too, and the token ends no later than the one that creates it. The service does not store the token: it is valid until `expiresAt`, until the job is deleted, or until the secret of the service changes.",
  example: examples.createJobToken,
  schemas: {
    params: Type.Object({ jobId: s.JobId }),
    body: Type.Object(
      {
        scope: Type.Enum(["report", "read"], {
          description: "`report`: read the job, report its steps, open gates. `read`: only read the job.",
        }),
        ttlSeconds: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 90 * DAY_SECONDS,
            default: DAY_SECONDS,
            description:
              "Seconds for which the token is valid. One day by default, at most 90 days, and no longer than the token that creates it.",
          }),
        ),
      },
      s.named("JobTokenRequest"),
    ),
  },
  answers: {
    201: Type.Object(
      {
        token: Type.String({ description: "The token. It is shown only once." }),
        expiresAt: s.Timestamp("When the token stops being valid."),
      },
      s.named("JobToken"),
    ),
  },
  errors: ["job_not_found"],
  audit: ({ params }) => ({ action: "token.create", target: params.jobId }),
  authContext: "api",
  async handler({ params, body: { scope, ttlSeconds = DAY_SECONDS }, authContext }, { jobTokens }) {
    // both scopes read the job, and nobody hands on more than it has
    requireScope(authContext, "jobs:read");
    const lifetime = { ttlMs: ttlSeconds * 1_000, notAfter: authContext.expiresAt };
    const { token, expiresAt } = await jobTokens.seal(params.jobId, scope, lifetime);
    return { status: 201, body: { token, expiresAt: expiresAt.toISOString() } };
  },
});

export const jobTokenRoutes = [createJobToken];
