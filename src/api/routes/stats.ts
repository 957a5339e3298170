import Type from "typebox";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;

export const getStats = route({
  method: "get",
  path: "/api/stats",
  operationId: "getStats",
  tag: "jobs",
  summary: "How many jobs there are, and the throughput of the last hour",
  schemas: {},
  answers: {
    200: Type.Object(
      {
        jobs: Type.Object(
          {
            total: s.Count("All jobs."),
            running: s.Count("Jobs that run."),
            completed: s.Count("Jobs that completed."),
            failed: s.Count("Jobs that failed."),
            stale: s.Count("Running jobs without a report for too long."),
          },
          closed,
        ),
        lastHour: Type.Object(
          {
            created: s.Count("Jobs created in the last hour."),
            completed: s.Count("Jobs completed in the last hour."),
            failed: s.Count("Jobs failed in the last hour."),
          },
          closed,
        ),
      },
      closed,
    ),
  },
  errors: [],
  description: "Where there are so many jobs that counting takes long, the counts may be some seconds old.",
  async handler(_input, { stores }) {
    return { status: 200, body: await stores.jobStatistics.read() };
  },
});
