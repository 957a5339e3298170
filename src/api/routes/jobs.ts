import Type, { type Static } from "typebox";
import { deleteJob, deleteJobs } from "../../models/jobs/deleteJobs.ts";
import type { JobChange } from "../../models/jobs/job.ts";
import type { JobFilter } from "../../models/jobs/jobFilter.ts";
import { listJobs, readJob, viewJob } from "../../models/jobs/readJobs.ts";
import { AppError } from "../../shared/errors.ts";
import * as examples from "../examples/jobs.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const params = Type.Object({ jobId: s.JobId });
const closed = { additionalProperties: false } as const;

const JobBody = Type.Object(
  {
    name: Type.Optional(s.nullable(s.Name)),
    description: Type.Optional(s.nullable(s.Text, { description: "A description for people." })),
    input: Type.Optional(s.nullable(s.FreeObject("Input of the job: any JSON object."))),
    metadata: Type.Optional(
      s.nullable(s.FreeObject('Data to find the job by, such as `{"team": "data"}`: any JSON object.')),
    ),
    staleAfterSeconds: Type.Optional(s.nullable(s.StaleAfterSeconds)),
    status: Type.Optional(s.Status),
    progress: Type.Optional(
      s.Progress(
        "Progress of the job in percent, to correct it by hand. A lower value than the current one is ignored.",
      ),
    ),
    message: Type.Optional(s.nullable(s.Text, { description: "The message of the job. Steps set it too." })),
    output: Type.Optional(s.nullable(s.FreeObject("Result of the job, to correct it by hand: any JSON object."))),
    ...s.readOnly(
      "jobId",
      "createdAt",
      "updatedAt",
      "lastReportAt",
      "stale",
      "staleAt",
      "currentStep",
      "step",
      "steps",
    ),
  },
  { ...closed, title: "JobChange" },
);

const CHANGES = [
  "name",
  "description",
  "input",
  "metadata",
  "staleAfterSeconds",
  "status",
  "progress",
  "message",
  "output",
] as const satisfies readonly (keyof JobChange)[];

const putJob = route({
  method: "put",
  path: "/api/jobs/:jobId",
  operationId: "putJob",
  tag: "jobs",
  summary: "Create or update a job",
  description:
    "Creates the job if its jobId is new (201), or changes the fields that the body has (200). A new job is `running` at progress 0. Call it once when the work starts, and then report steps. A field that is absent stays as it is; `null` clears it.\n\nThe call is idempotent: you can send it again after a network error. Steps set `status`, `progress`, `message` and `output` of the job by themselves. Send these fields only to correct a job by hand: progress never decreases, and `completed` sets it to 100.",
  example: examples.putJob,
  schemas: { params, body: JobBody },
  answers: { 200: s.JobView, 201: s.JobView },
  errors: [],
  async handler({ params, body }, { stores, metrics }) {
    const change = Object.fromEntries(CHANGES.flatMap((field) => (field in body ? [[field, body[field]]] : [])));
    const { created, ended, job } = await stores.jobs.put(params.jobId, change);
    if (created) metrics.jobs.inc({ outcome: "created" });
    if (ended) metrics.jobs.inc({ outcome: ended });
    return { status: created ? 201 : 200, body: await viewJob(stores, job) };
  },
});

const getJob = route({
  method: "get",
  path: "/api/jobs/:jobId",
  operationId: "getJob",
  tag: "jobs",
  summary: "Get a job",
  description:
    "Returns the job with its input, metadata, output and the step that runs. Use `stepKey` or `include=steps` to read steps in the same request. To follow a job, use `GET /api/jobs/{jobId}/events` instead of repeating this request.",
  example: examples.getJob,
  schemas: {
    params,
    query: Type.Object(
      {
        stepKey: Type.Optional(s.Identifier("Adds the field `step` with the step of this key.")),
        include: Type.Optional(
          Type.Enum(["steps"], {
            description: "`steps` adds the field `steps` with all steps of the job, oldest first.",
          }),
        ),
      },
      closed,
    ),
  },
  answers: { 200: s.JobRead },
  errors: ["job_not_found"],
  async handler({ params, query }, { stores }) {
    const include = { stepKey: query.stepKey, withSteps: query.include === "steps" };
    return { status: 200, body: await readJob(stores, params.jobId, include) };
  },
});

const instant = (description: string) => Type.Optional(s.Timestamp(description));

export const filters = {
  status: Type.Optional(
    Type.Array(s.Status, { minItems: 1, description: "Jobs with this status. Repeat the parameter for several." }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "Jobs whose name starts with this text, in upper or lower case.",
    }),
  ),
  jobId: Type.Optional(s.Identifier("Jobs whose jobId starts with this text.")),
  createdFrom: instant("Jobs created at this time or later, such as `2026-01-31T18:00:00Z`. In a URL, write + as %2B."),
  createdBefore: instant("Jobs created before this time."),
  updatedFrom: instant("Jobs last changed at this time or later."),
  updatedBefore: instant("Jobs last changed before this time."),
  stale: Type.Optional(
    Type.Boolean({ description: "`true`: running jobs without a report for too long. `false`: all other jobs." }),
  ),
};

const METADATA = "metadata.";
const FilterQuery = Type.Object(filters);

/** Allows parameters `metadata.KEY`, whose names the caller chooses. */
export const withMetadata = {
  additionalProperties: false,
  patternProperties: { "^metadata\\..+": Type.Array(Type.String({ maxLength: 1_024 })) },
} as const;

/** Converts the parameters of a list to a filter. @throws AppError invalid_query */
export function toFilter(query: Static<typeof FilterQuery>): JobFilter {
  const { status, name, jobId, stale } = query;
  const metadata = Object.entries(query as Record<string, unknown>).flatMap(([parameter, values]) =>
    parameter.startsWith(METADATA)
      ? (values as string[]).map((value) => [parameter.slice(METADATA.length), value] as const)
      : [],
  );
  const times = (["createdFrom", "createdBefore", "updatedFrom", "updatedBefore"] as const).flatMap((parameter) => {
    const text = query[parameter];
    return text === undefined ? [] : [[parameter, toDate(parameter, text)]];
  });
  return {
    ...(status && { status }),
    ...(name !== undefined && { name }),
    ...(jobId !== undefined && { jobId }),
    ...(stale !== undefined && { stale }),
    ...(metadata.length > 0 && { metadata }),
    ...Object.fromEntries(times),
  };
}

/** Parses a time that matches the schema. @throws AppError invalid_query for a leap second, which a Date cannot represent */
function toDate(parameter: string, text: string): Date {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  const detail = "must be an existing time: leap seconds are not supported";
  throw new AppError("invalid_query", { detail: `${parameter} ${detail}.`, errors: [{ parameter, detail }] });
}

const getJobs = route({
  method: "get",
  path: "/api/jobs",
  operationId: "listJobs",
  tag: "jobs",
  summary: "List jobs",
  description:
    "Returns jobs, newest first. Filters can be combined; a job must match all of them. Use `fields` to receive only the fields that you need.\n\nTo read the next page, send `nextCursor` as `cursor`. A page can have fewer rows than `limit`; the list ends when `nextCursor` is null.",
  example: examples.listJobs,
  schemas: {
    query: Type.Object(
      {
        ...filters,
        fields: Type.Optional(
          Type.Array(Type.Enum(s.JobFields), {
            minItems: 1,
            explode: false,
            description: "Fields to return for each job, separated by commas. `jobId` is always returned.",
          }),
        ),
        ...s.paging,
      },
      withMetadata,
    ),
  },
  answers: { 200: Type.Object({ jobs: s.Rows(s.JobRow), nextCursor: s.nextCursor }, closed) },
  errors: [],
  async handler({ query }, { stores, clock }) {
    const { limit = 100, cursor, fields, ...rest } = query;
    return {
      status: 200,
      body: await listJobs(stores, { filter: toFilter(rest), limit, cursor, fields }, clock.now()),
    };
  },
});

const removeJob = route({
  method: "delete",
  path: "/api/jobs/:jobId",
  operationId: "deleteJob",
  tag: "jobs",
  summary: "Delete a job",
  description:
    "Deletes the job, its steps and their outputs. This cannot be undone. A later report for one of its steps answers 404 `job_not_found`.",
  example: examples.deleteJob,
  schemas: { params },
  answers: { 200: s.Ok },
  errors: ["job_not_found"],
  async handler({ params }, { stores }) {
    await deleteJob(stores, params.jobId);
    return { status: 200, body: { ok: true as const } };
  },
});

const removeJobs = route({
  method: "delete",
  path: "/api/jobs",
  operationId: "deleteJobs",
  tag: "jobs",
  summary: "Delete jobs that match filters",
  description:
    "Deletes every job that matches all filters, with its steps. It takes the filters of the list. **Without any filter it deletes every job.** This cannot be undone: send the same filters to `GET /api/jobs` first to see which jobs match.",
  example: examples.deleteJobs,
  schemas: { query: Type.Object(filters, withMetadata) },
  answers: { 200: s.Ok },
  errors: [],
  async handler({ query }, { stores, clock }) {
    await deleteJobs(stores, toFilter(query), clock.now());
    return { status: 200, body: { ok: true as const } };
  },
});

export const jobRoutes = [putJob, getJob, getJobs, removeJob, removeJobs];
