import Type from "typebox";
import { MAX_NAMES, readJobHistory } from "../../models/figures/readFigures.ts";
import { AppError } from "../../shared/errors.ts";
import * as s from "../../wire/blocks.ts";
import { UsageOrNull } from "../../wire/usage.ts";
import * as examples from "../examples/jobs.ts";
import { withMetadata } from "../metadataFilter.ts";
import { route } from "../route.ts";
import { readFilters, toFilter } from "./jobs/jobs.ts";

const closed = { additionalProperties: false } as const;

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
  answers: {
    200: Type.Object(
      {
        jobs: Type.Object(
          {
            total: s.Count("Number of all jobs."),
            running: s.Count("Number of running jobs, including stale ones."),
            completed: s.Count("Number of completed jobs."),
            failed: s.Count("Number of failed jobs."),
            stale: s.Count("Number of running jobs without a report for too long."),
          },
          { ...s.named("JobCounts"), description: "The jobs by status." },
        ),
        lastHour: Type.Object(
          {
            created: s.Count("Number of jobs created in the last hour."),
            completed: s.Count("Number of jobs completed in the last hour."),
            failed: s.Count("Number of jobs that failed in the last hour."),
          },
          { ...s.named("LastHour"), description: "The figures of the last hour." },
        ),
        capped: Type.Boolean({
          description:
            "Whether more than 10,000 jobs match the filters, so that each number is a lower bound. False without filters.",
        }),
        usageLastHour: UsageOrNull(
          "Usage of the agent runs that ended in the last hour, with all their attempts; null if nothing was reported, and with filters.",
        ),
      },
      s.named("Stats"),
    ),
  },
  errors: [],
  authContext: "api",
  async handler({ query, authContext }, { stores }) {
    return { status: 200, body: await stores.jobStatistics.read(toFilter(query, authContext)) };
  },
});

const figures = {
  started: s.Count("Number of jobs that were created."),
  completed: s.Count("Number of jobs that completed."),
  failed: s.Count("Number of jobs that failed."),
  p50Seconds: s.nullable(Type.Number(), {
    description: "Median time from creation to end of the jobs that ended, within 5 %; null if none ended.",
  }),
  p95Seconds: s.nullable(Type.Number(), {
    description: "Time within which 95 % of the jobs that ended did so, within 5 %; null if none ended.",
  }),
};

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
          Type.Enum(["hour", "day", "week"], {
            description:
              "The last hour in periods of 5 minutes (default), day in hours, or week in periods of 6 hours.",
          }),
        ),
        name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 1_024, description: "Periods of the jobs with exactly this name." }),
        ),
      },
      closed,
    ),
  },
  answers: {
    200: Type.Object(
      {
        span: Type.Enum(["hour", "day", "week"], { description: "The span of time." }),
        periodSeconds: Type.Integer({ description: "Length of each period." }),
        periods: Type.Array(
          Type.Object({ start: s.Timestamp("Start of the period."), ...figures }, s.named("JobHistoryPeriod")),
          { description: "The periods, oldest first. The last one is not over." },
        ),
        names: Type.Array(
          Type.Object(
            { name: Type.String({ description: "Name of the jobs." }), ...figures },
            s.named("JobHistoryName"),
          ),
          {
            description: `The figures of the whole span by name, those with most jobs first, at most ${MAX_NAMES}. A process counts 100 names an hour apart.`,
          },
        ),
      },
      s.named("JobHistory"),
    ),
  },
  errors: [],
  authContext: "api",
  async handler({ query: { span = "hour", ...name }, authContext }, { stores, clock }) {
    if (authContext.jobs) {
      const detail = "The history counts all jobs. Use a token that is not confined to some jobs.";
      throw new AppError("forbidden", { detail });
    }
    return { status: 200, body: await readJobHistory(stores.jobFigures, clock, { span, ...name }) };
  },
});
