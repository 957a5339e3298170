import Type from "typebox";
import { SHARED_PARTS } from "../../../models/jobs/tokens/jobTokens.ts";
import * as s from "../../../wire/blocks.ts";
import * as examples from "../../examples/jobs.ts";
import { SHARE_PATH } from "../../middleware/requestLog.ts";
import { route } from "../../routing/route.ts";

const DAY_SECONDS = 86_400;
const path = "/api/jobs/:jobId/share";
const params = Type.Object({ jobId: s.JobId });

const shareJob = route({
  method: "post",
  path,
  operationId: "shareJob",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Create a link that shows a job",
  description:
    "Returns a link that shows this job to whoever has it, without a log-in: its title, status, progress, message, the names of its steps, and its times. The page needs no script, and refreshes itself while the job runs. With `.json` at its end the link returns the same as data, and with `.svg` a badge. Input and metadata are never shown.\n\nThe service does not store the link. It is valid until `expiresAt`, until the job is deleted, until `DELETE /api/jobs/{jobId}/share`, or until the secret of the service changes. It ends no later than the token that creates it.",
  example: examples.shareJob,
  schemas: {
    params,
    body: Type.Object(
      {
        ttlSeconds: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 365 * DAY_SECONDS,
            default: 7 * DAY_SECONDS,
            description: "Seconds for which the link is valid. One week by default, at most a year.",
          }),
        ),
        include: Type.Optional(
          Type.Array(Type.Enum([...SHARED_PARTS]), {
            uniqueItems: true,
            description: "`output` shows the output of the job too, and `log` the last 200 lines of its log.",
          }),
        ),
      },
      s.named("ShareRequest"),
    ),
  },
  answers: {
    201: Type.Object(
      {
        url: Type.String({
          description:
            "The link. Without `server.publicUrl` it begins with the address by which this request reached the service.",
        }),
        expiresAt: s.Timestamp("When the link ends."),
      },
      s.named("ShareLink"),
    ),
  },
  errors: ["job_not_found"],
  audit: ({ params }) => ({ action: "share.create", target: params.jobId }),
  authContext: "api",
  async handler({ params, body, authContext }, { jobTokens, publicUrl, basePath }) {
    const { ttlSeconds = 7 * DAY_SECONDS, include = [] } = body;
    const lifetime = { ttlMs: ttlSeconds * 1_000, notAfter: authContext.expiresAt };
    const { token, expiresAt } = await jobTokens.share(params.jobId, include, lifetime);
    const base = publicUrl ?? authContext.origin + basePath;
    return { status: 201, body: { url: `${base}${SHARE_PATH}/${token}`, expiresAt: expiresAt.toISOString() } };
  },
});

const revokeShares = route({
  method: "delete",
  path,
  operationId: "revokeShares",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Revoke the links that show a job",
  description:
    "Ends all links that `POST /api/jobs/{jobId}/share` has created for this job, at once. Links that are created later work. The call is idempotent.",
  example: examples.revokeShares,
  schemas: { params },
  answers: { 200: s.Ok },
  errors: ["job_not_found"],
  audit: ({ params }) => ({ action: "share.revoke", target: params.jobId }),
  async handler({ params }, { jobTokens }) {
    await jobTokens.revokeShares(params.jobId);
    return { status: 200, body: { ok: true as const } };
  },
});

export const shareRoutes = [shareJob, revokeShares];
