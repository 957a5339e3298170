import Type, { type Static } from "typebox";
import { filterTarget } from "../../../models/audit.ts";
import { isInScope, type JobScope } from "../../../models/jobs/jobScope.ts";
import { checkLinks } from "../../../models/jobs/link.ts";
import { listJobs, viewWrittenJob } from "../../../models/jobs/read/readJobs.ts";
import type { JobFilter } from "../../../models/jobs/search/jobFilter.ts";
import { deleteJob, deleteJobs } from "../../../models/retention/deleteJobs.ts";
import { AppError, invalidField } from "../../../shared/errors.ts";
import { checkCallbackUrl } from "../../../shared/outbound/callbackUrl.ts";
import * as s from "../../../wire/blocks.ts";
import { CHANGE_FIELDS, ChangedJob, JOB_FIELDS, JobBody, JobReceipt, JobRow } from "../../../wire/job.ts";
import { type Caller, jobOf, jobsFor } from "../../auth/caller.ts";
import { checkDeletion } from "../../checkDeletion.ts";
import * as examples from "../../examples/jobs.ts";
import { metadataOf, withMetadata } from "../../metadataFilter.ts";
import { route } from "../../routing/route.ts";
import { parseTimes } from "../../routing/validate.ts";
import * as q from "../../schemas/requests.ts";
import { keptTraceparent, traceHeader } from "../../traceparent.ts";
import { getJob } from "./getJob.ts";
import { resolveReturnTo } from "./returnTo.ts";

const params = Type.Object({ jobId: s.JobId });

const putJob = route({
  method: "put",
  path: "/api/jobs/:jobId",
  operationId: "putJob",
  scopes: ["jobs:create"],
  tag: "jobs",
  summary: "Create or update a job",
  description:
    "Creates the job if its jobId is new (201), or changes the fields that the body has (200). A new job is `running` at progress 0. Call it once when the work starts, and then report steps. A field that is absent stays as it is; `null` clears it.\n\nThe call is idempotent: you can send it again after a network error. Steps set `status`, `progress`, `message` and `output` of the job by themselves. Send these fields only to correct a job by hand: progress never decreases, and `completed` sets it to 100.\n\nOnce cancellation of the job was requested, every response has `cancelRequested: true`. `status: running` on a job that has ended starts it again, and clears the request.\n\nWith `returnTo` the end of the job wakes a session of the agent: it gets a run of the kind `return` with what the job says. It needs the scope `runs:write`, unless the token of a run sends `self`.",
  example: examples.putJob,
  schemas: { params, headers: Type.Object(traceHeader), body: JobBody },
  answers: { 200: ChangedJob, 201: ChangedJob },
  receipt: JobReceipt,
  errors: ["return_limit"],
  authContext: "api",
  async handler({ params, headers, body, authContext }, deps) {
    const { stores, metrics, callbackHosts, maxReturns } = deps;
    checkCallbackUrl(body.callbackUrl, callbackHosts);
    checkLinks(body.links);
    checkParent(params.jobId, body.parentJobId, authContext);
    const context = { ...params, authContext, maxReturns };
    const returnTo = body.returnTo ? await resolveReturnTo(deps, body.returnTo, context) : (body.returnTo as null);
    const change = {
      ...Object.fromEntries(CHANGE_FIELDS.flatMap((field) => (field in body ? [[field, body[field]]] : []))),
      ...(returnTo !== undefined && { returnTo }),
      ...keptTraceparent(stores, headers),
    };
    const put = await stores.jobs.put(params.jobId, change);
    metrics.countJob(put);
    return { status: put.created ? 201 : 200, body: await viewWrittenJob(stores, put.job) };
  },
});

/** Checks the parent that a job names. @throws AppError invalid_body, forbidden */
function checkParent(jobId: string, parentJobId: string | null | undefined, caller: Caller): void {
  if (parentJobId === undefined || parentJobId === null) return;
  if (parentJobId === jobId) throw invalidField("parentJobId", "must be another job");
  if (jobOf(caller)?.jobId === parentJobId || isInScope(parentJobId, jobsFor(caller, "jobs:create"))) return;
  throw new AppError("forbidden", { detail: "`parentJobId` must be a job that this token may use." });
}

const instant = (description: string) => Type.Optional(s.Timestamp(description));

const filters = {
  status: q.anyOf(s.Status, "Jobs with this status."),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "Jobs whose name starts with this text, in upper or lower case.",
    }),
  ),
  jobId: Type.Optional(s.Identifier("Jobs whose jobId starts with this text.")),
  parentJobId: Type.Optional(s.Identifier("Jobs that name this one as their parent.")),
  createdFrom: instant("Jobs created at this time or later, such as `2026-01-31T18:00:00Z`. In a URL, write + as %2B."),
  createdBefore: instant("Jobs created before this time."),
  updatedFrom: instant("Jobs last changed at this time or later."),
  updatedBefore: instant("Jobs last changed before this time."),
  stale: Type.Optional(
    Type.Boolean({ description: "`true`: running jobs without a report for too long. `false`: all other jobs." }),
  ),
  cancelled: Type.Optional(
    Type.Boolean({
      description: "`true`: failed jobs whose cancellation was requested. `false`: all other jobs.",
    }),
  ),
};

/** The filters of what is read. A deletion takes only exact ones. */
export const readFilters = {
  ...filters,
  children: Type.Optional(Type.Enum(["hide"], { description: "`hide`: only jobs without a parent." })),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description:
        "Jobs in whose name each word of this text begins a word, in upper or lower case, in any order. Failed jobs in whose message they do. Jobs whose jobId or name starts with the text.",
    }),
  ),
};

const FilterQuery = Type.Object(readFilters);

/** Converts the parameters of a list to a filter. @param scope the jobs that the caller may use @throws AppError invalid_query */
export function toFilter(query: Static<typeof FilterQuery>, scope: JobScope | undefined): JobFilter {
  const {
    status,
    name,
    search,
    jobId,
    parentJobId,
    children,
    stale,
    cancelled,
    createdFrom,
    createdBefore,
    updatedFrom,
    updatedBefore,
  } = query;
  const metadata = metadataOf(query);
  return {
    ...(status && { status }),
    ...(name !== undefined && { name }),
    ...(search !== undefined && { search }),
    ...(jobId !== undefined && { jobId }),
    ...(parentJobId !== undefined && { parentJobId }),
    ...(children === "hide" && { hasParent: false }),
    ...(stale !== undefined && { stale }),
    ...(cancelled !== undefined && { cancelled }),
    ...(metadata.length > 0 && { metadata }),
    ...(scope && { scope }),
    ...parseTimes({ createdFrom, createdBefore, updatedFrom, updatedBefore }),
  };
}

const getJobs = route({
  method: "get",
  path: "/api/jobs",
  operationId: "listJobs",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "List jobs",
  description:
    "Returns jobs, newest first. Filters can be combined; a job must match all of them. Use `fields` to receive only the fields that you need.\n\nTo read the next page, send `nextCursor` as `cursor`. A page can have fewer rows than `limit`; the list ends when `nextCursor` is null.",
  example: examples.listJobs,
  schemas: {
    query: Type.Object(
      {
        ...readFilters,
        fields: Type.Optional(
          Type.Array(Type.Enum(JOB_FIELDS), {
            minItems: 1,
            explode: false,
            description: "Fields to return for each job, separated by commas. `jobId` is always returned.",
          }),
        ),
        ...q.paging,
      },
      withMetadata,
    ),
  },
  answers: { 200: Type.Object({ jobs: s.Rows(JobRow), nextCursor: s.nextCursor }, s.named("JobList")) },
  errors: [],
  authContext: "api",
  async handler({ query, authContext }, { stores, clock }) {
    const { limit = 100, cursor, fields, ...rest } = query;
    return {
      status: 200,
      body: await listJobs(
        stores,
        { filter: toFilter(rest, jobsFor(authContext, "jobs:read")), limit, cursor, fields },
        clock.now(),
      ),
    };
  },
});

const removeJob = route({
  method: "delete",
  path: "/api/jobs/:jobId",
  operationId: "deleteJob",
  scopes: ["jobs:write"],
  tag: "jobs",
  summary: "Delete a job",
  description:
    "Deletes the job, its steps and their outputs. This cannot be undone. A later report for one of its steps answers 404 `job_not_found`.",
  example: examples.deleteJob,
  schemas: { params },
  answers: { 200: s.Ok },
  errors: ["job_not_found"],
  audit: ({ params }) => ({ action: "job.delete", target: params.jobId }),
  async handler({ params }, { stores }) {
    await deleteJob(stores, params.jobId);
    return { status: 200, body: { ok: true as const } };
  },
});

const DeleteEveryJob = Type.Optional(
  Type.Boolean({
    description:
      "`true`: delete every job. Cannot be combined with filters. Needed where `jobs.deleteAll` is `require-all`.",
  }),
);

const Deletion = Type.Object(
  { ...s.Ok.properties, deleted: Type.Integer({ minimum: 0, description: "The number of deleted jobs." }) },
  s.named("Deletion"),
);

const removeJobs = route({
  method: "delete",
  path: "/api/jobs",
  operationId: "deleteJobs",
  scopes: ["jobs:write"],
  tag: "jobs",
  summary: "Delete jobs that match filters",
  description:
    "Deletes every job that matches all filters, with its steps. It takes the filters of the list but `search`. **Without any filter it deletes every job**, unless `jobs.deleteAll` of the configuration requires `all=true` for that or forbids it. This cannot be undone: send the same filters to `GET /api/jobs` first to see which jobs match.",
  example: examples.deleteJobs,
  schemas: { query: Type.Object({ ...filters, all: DeleteEveryJob }, withMetadata) },
  answers: { 200: Deletion },
  errors: ["deletion_forbidden"],
  authContext: "api",
  audit: ({ query }) => ({ action: "jobs.delete", target: filterTarget(query) }),
  async handler({ query, authContext }, { stores, clock, deleteAll }) {
    checkDeletion(query, deleteAll);
    const deleted = await deleteJobs(stores, toFilter(query, jobsFor(authContext, "jobs:write")), clock.now());
    return { status: 200, body: { ok: true as const, deleted } };
  },
});

export const jobRoutes = [putJob, getJob, getJobs, removeJob, removeJobs];
