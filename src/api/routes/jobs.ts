import Type, { type Static } from "typebox";
import { deleteJob, deleteJobs } from "../../models/jobs/deleteJobs.ts";
import type { JobChange } from "../../models/jobs/job.ts";
import type { JobFilter } from "../../models/jobs/jobFilter.ts";
import { listJobs, readJob, viewJob } from "../../models/jobs/readJobs.ts";
import { AppError } from "../../shared/errors.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const params = Type.Object({ jobId: s.JobId });
const closed = { additionalProperties: false } as const;

const JobBody = Type.Object(
  {
    name: Type.Optional(s.nullable(s.Name)),
    description: Type.Optional(s.nullable(s.Text)),
    input: Type.Optional(s.nullable(s.FreeObject("What the job works on."))),
    metadata: Type.Optional(s.nullable(s.FreeObject("Whatever the caller wants to find the job by."))),
    staleAfterSeconds: Type.Optional(s.nullable(s.StaleAfterSeconds)),
    status: Type.Optional(s.Status),
    progress: Type.Optional(s.Progress("For manual correction; forward only.")),
    message: Type.Optional(s.nullable(s.Text)),
    output: Type.Optional(s.nullable(s.FreeObject("For manual correction."))),
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
  summary: "Create a job, or change the fields given",
  description:
    "A new job is running at 0. A field that is not there stays as it is; null clears it. status, progress, message and output are for manual correction: progress only goes forward, and `completed` brings it to 100.",
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
  summary: "One job, with its output and current step",
  schemas: {
    params,
    query: Type.Object(
      {
        stepKey: Type.Optional(s.Identifier("Adds `step`, null when there is none of this key.")),
        include: Type.Optional(Type.Enum(["steps"], { description: "Adds `steps`, oldest first." })),
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
  status: Type.Optional(Type.Array(s.Status, { minItems: 1, description: "May be repeated: any of them." })),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_024, description: "How the name begins; case does not matter." }),
  ),
  jobId: Type.Optional(s.Identifier("How the jobId begins.")),
  createdFrom: instant("Created at this time or later."),
  createdBefore: instant("Created before this time."),
  updatedFrom: instant("Changed last at this time or later."),
  updatedBefore: instant("Changed last before this time."),
  stale: Type.Optional(
    Type.Boolean({ description: "true: running without a report for too long; false: all others." }),
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
  summary: "Jobs, newest first by creation",
  description:
    "All filters given must hold. A page may be shorter than `limit` when its rows are large; only a null nextCursor ends the list.",
  schemas: {
    query: Type.Object(
      {
        ...filters,
        fields: Type.Optional(
          Type.Array(Type.Enum(s.JobFields), {
            minItems: 1,
            explode: false,
            description: "Only these fields of each row, separated by commas; jobId is always there.",
          }),
        ),
        ...s.paging,
      },
      withMetadata,
    ),
  },
  answers: { 200: Type.Object({ jobs: Type.Array(s.JobRow), nextCursor: s.nextCursor }, closed) },
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
  summary: "Delete a job and all its steps",
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
  summary: "Delete every job that the filters fit, with all steps",
  description: "Takes the filters of the list. Without any it deletes every job.",
  schemas: { query: Type.Object(filters, withMetadata) },
  answers: { 200: s.Ok },
  errors: [],
  async handler({ query }, { stores, clock }) {
    await deleteJobs(stores, toFilter(query), clock.now());
    return { status: 200, body: { ok: true as const } };
  },
});

export const jobRoutes = [putJob, getJob, getJobs, removeJob, removeJobs];
