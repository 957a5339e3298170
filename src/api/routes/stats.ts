import Type from "typebox";
import { route } from "../route.ts";

const closed = { additionalProperties: false } as const;
const Count = (description: string) => Type.Integer({ minimum: 0, description });

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
            total: Count("All jobs."),
            running: Count("Jobs that run."),
            completed: Count("Jobs that completed."),
            failed: Count("Jobs that failed."),
            stale: Count("Running jobs without a report for too long."),
          },
          closed,
        ),
        lastHour: Type.Object(
          {
            created: Count("Jobs created in the last hour."),
            completed: Count("Jobs completed in the last hour."),
            failed: Count("Jobs failed in the last hour."),
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
