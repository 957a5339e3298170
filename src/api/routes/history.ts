import Type from "typebox";
import { CURSOR_PATTERN } from "../../models/db/cursor.ts";
import { readHistory } from "../../models/figures/readHistory.ts";
import { readExpectations } from "../../models/notifications/readRules.ts";
import { DURATION_PATTERN, durationMs } from "../../shared/text/duration.ts";
import * as s from "../../wire/blocks.ts";
import { NameHistory } from "../../wire/history.ts";
import { jobsFor } from "../auth/caller.ts";
import * as examples from "../examples/jobs.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";

export const getHistory = route({
  method: "get",
  path: "/api/history",
  operationId: "getHistory",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "List the newest jobs by name",
  description:
    "Returns the names of the jobs that were created in a window of time, the one with the newest job first, each with its newest 20 jobs, their usual duration and the last failure. More than five names that differ in digits alone are one row. A token that is confined to some jobs gets the names among its newest 10,000 jobs.",
  example: examples.getHistory,
  schemas: {
    query: Type.Object(
      {
        window: Type.Optional(
          Type.String({ pattern: DURATION_PATTERN, description: "How far back, such as `24h`. The default is `7d`." }),
        ),
        name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 1_024, description: "Only the row with exactly this `name`." }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 50, default: 25, description: "Maximum number of names in the page." }),
        ),
        cursor: q.cursor(CURSOR_PATTERN),
      },
      q.closed,
    ),
  },
  answers: {
    200: Type.Object(
      { names: Type.Array(NameHistory, { description: "The names of this page." }), nextCursor: s.nextCursor },
      s.named("History"),
    ),
  },
  errors: ["unavailable"],
  authContext: "api",
  async handler({ query: { window = "7d", limit = 25, ...rest }, authContext }, { stores, expect, clock }) {
    const now = clock.now();
    const since = new Date(Math.max(0, now.getTime() - durationMs(window)));
    const scope = jobsFor(authContext, "jobs:read");
    const expectations = await readExpectations(stores, expect);
    return { status: 200, body: await readHistory(stores.jobs, { ...rest, limit, since, scope }, expectations, now) };
  },
});
