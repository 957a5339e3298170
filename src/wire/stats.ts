import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { UsageOrNull } from "./runs/usage.ts";

/** The number of jobs, and what happened in the last hour. */
export const Stats = Type.Object(
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
);
export type Stats = Static<typeof Stats>;

/** Maximum names in a history. */
export const MAX_HISTORY_NAMES = 50;

export const HistorySpan = Type.Enum(["hour", "day", "week"], { description: "The span of time." });
export type HistorySpan = Static<typeof HistorySpan>;

const figures = {
  started: s.Count("Number of jobs that were created."),
  completed: s.Count("Number of jobs that completed."),
  failed: s.Count("Number of jobs that failed."),
  p50Seconds: s.nullable(Type.Number(), {
    description:
      "Median time from start to end of the jobs that ended, without waiting for gates, within 5 %; null if none ended.",
  }),
  p95Seconds: s.nullable(Type.Number(), {
    description: "Time within which 95 % of the jobs that ended did so, within 5 %; null if none ended.",
  }),
};
const Figures = Type.Object(figures);
export type Figures = Static<typeof Figures>;

/** The failures of a window of time, grouped by their message. */
export const JobErrors = Type.Object(
  {
    errors: Type.Array(
      Type.Object(
        {
          message: Type.String({
            description:
              "The first line of their message, with `N` for numbers, `ID` for ids and `“…”` for quoted words.",
          }),
          count: s.Count("The number of these failures."),
          newest: Type.Object(
            { jobId: s.JobId, at: s.Timestamp("When the job failed.") },
            { ...s.named("NewestFailure"), description: "The newest one." },
          ),
        },
        s.named("JobError"),
      ),
      { description: "At most 20 groups, the one with the newest failure first." },
    ),
  },
  s.named("JobErrors"),
);
export type JobErrors = Static<typeof JobErrors>;

/** How many jobs were created and ended in each period of a span of time, and how long they took. */
export const JobHistory = Type.Object(
  {
    span: HistorySpan,
    periodSeconds: Type.Integer({ description: "Length of each period." }),
    periods: Type.Array(
      Type.Object({ start: s.Timestamp("Start of the period."), ...figures }, s.named("JobHistoryPeriod")),
      { description: "The periods, oldest first. The last one is not over." },
    ),
    names: Type.Array(
      Type.Object({ name: Type.String({ description: "Name of the jobs." }), ...figures }, s.named("JobHistoryName")),
      {
        description: `The figures of the whole span by name, those with most jobs first, at most ${MAX_HISTORY_NAMES}. A process counts 100 names an hour apart.`,
      },
    ),
  },
  s.named("JobHistory"),
);
export type JobHistory = Static<typeof JobHistory>;
