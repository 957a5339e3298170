import Type from "typebox";
import * as examples from "../examples/jobs.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;

export const getStats = route({
  method: "get",
  path: "/api/stats",
  operationId: "getStats",
  tag: "jobs",
  summary: "Get job statistics",
  description:
    "Returns the number of jobs by status, and how many jobs were created, completed and failed in the last hour. With very many jobs the counts can be a few seconds old.",
  example: examples.getStats,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        jobs: Type.Object(
          {
            total: s.Count("Number of all jobs."),
            running: s.Count("Number of running jobs, including stale ones."),
            completed: s.Count("Number of completed jobs."),
            failed: s.Count("Number of failed jobs."),
            stale: s.Count("Number of running jobs that have not been reported for too long."),
          },
          { ...closed, description: "The jobs by status." },
        ),
        lastHour: Type.Object(
          {
            created: s.Count("Number of jobs created in the last hour."),
            completed: s.Count("Number of jobs completed in the last hour."),
            failed: s.Count("Number of jobs that failed in the last hour."),
          },
          { ...closed, description: "The figures of the last hour." },
        ),
      },
      closed,
    ),
  },
  errors: [],
  async handler(_input, { stores }) {
    return { status: 200, body: await stores.jobStatistics.read() };
  },
});
