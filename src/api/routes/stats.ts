import Type from "typebox";
import { readJobErrors } from "../../models/figures/jobErrors.ts";
import { readJobHistory } from "../../models/figures/readFigures.ts";
import { AppError } from "../../shared/errors.ts";
import { HistorySpan, JobErrors, JobHistory, Stats } from "../../wire/stats.ts";
import { jobsFor } from "../auth/caller.ts";
import * as examples from "../examples/jobs.ts";
import { withMetadata } from "../metadataFilter.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";
import { readFilters, toFilter } from "./jobs/jobs.ts";

export const getStats = route({
  method: "get",
  path: "/api/stats",
  operationId: "getStats",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Get job statistics",
  description:
    "Returns the number of jobs by status, and how many jobs were created, completed and failed in the last hour, and the usage of the agent runs that ended in it. With very many jobs the counts can be a few seconds old.\n\nWith the filters of the list it counts the jobs that match, at most 10,000 of them; `capped` is true if there are more.",
  example: examples.getStats,
  schemas: { query: Type.Object(readFilters, withMetadata) },
  answers: { 200: Stats },
  errors: [],
  authContext: "api",
  async handler({ query, authContext }, { stores }) {
    return { status: 200, body: await stores.jobStats.read(toFilter(query, jobsFor(authContext, "jobs:read"))) };
  },
});

const SPAN_MS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;

export const getJobErrors = route({
  method: "get",
  path: "/api/stats/jobs",
  operationId: "getJobErrors",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Get the failures of jobs by message",
  description:
    "Groups the jobs that failed in a window of time by their message. Numbers, ids and quoted words do not count, so that failures with one cause are one group. Returns the 20 groups with the newest failures, of the newest 10,000 failures.",
  example: examples.getJobErrors,
  schemas: {
    query: Type.Object(
      {
        by: Type.Optional(Type.Enum(["error"], { description: "`error`, the default, groups by message." })),
        span: Type.Optional(Type.Enum(HistorySpan.enum, { description: "The last hour, day (default) or week." })),
      },
      q.closed,
    ),
  },
  answers: { 200: JobErrors },
  errors: [],
  authContext: "api",
  async handler({ query: { span = "day" }, authContext }, { stores, clock }) {
    const since = new Date(clock.now().getTime() - SPAN_MS[span]);
    return { status: 200, body: await readJobErrors(stores.jobs, since, jobsFor(authContext, "jobs:read")) };
  },
});

export const getJobHistory = route({
  method: "get",
  path: "/api/stats/history",
  operationId: "getJobHistory",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Get the history of jobs",
  description:
    "Returns how many jobs were created, completed and failed in each period of the last hour, day or week, and how long they took. The figures are stored a few seconds after the end of a job, and stay when jobs are deleted. They count all jobs, so a token that is confined to some jobs cannot read them.",
  example: examples.getJobHistory,
  schemas: {
    query: Type.Object(
      {
        span: Type.Optional(
          Type.Enum(HistorySpan.enum, {
            description:
              "The last hour in periods of 5 minutes (default), day in hours, or week in periods of 6 hours.",
          }),
        ),
        name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 1_024, description: "Periods of the jobs with exactly this name." }),
        ),
      },
      q.closed,
    ),
  },
  answers: { 200: JobHistory },
  errors: [],
  authContext: "api",
  async handler({ query: { span = "hour", ...name }, authContext }, { stores, clock }) {
    if (jobsFor(authContext, "jobs:read")) {
      const detail = "The history counts all jobs. Use a token that is not confined to some jobs.";
      throw new AppError("forbidden", { detail });
    }
    return { status: 200, body: await readJobHistory(stores.jobFigures, clock, { span, ...name }) };
  },
});
