import Type from "typebox";
import { listRuns } from "../../../models/runs/readRuns.ts";
import { countRuns } from "../../../models/runs/runStats.ts";
import * as s from "../../../wire/blocks.ts";
import { Run, RunStats, RunStatus } from "../../../wire/runs/run.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../routing/route.ts";
import { parseTimes } from "../../routing/validate.ts";
import * as q from "../../schemas/requests.ts";

/** The filters of lists and counts. */
const runFilters = {
  sessionKey: Type.Optional(s.Identifier("Runs of this conversation.")),
  mapping: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_024, description: "Runs that this mapping made, by its name." }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description:
        "Runs in whose name each word of this text begins a word, in upper or lower case, in any order; and runs whose runId starts with the text.",
    }),
  ),
  createdFrom: Type.Optional(s.Timestamp("Runs that were accepted at this time or later.")),
  createdBefore: Type.Optional(s.Timestamp("Runs that were accepted before this time.")),
};

const getRuns = route({
  method: "get",
  path: "/api/runs",
  operationId: "listRuns",
  scopes: ["runs:read"],
  tag: "runs",
  summary: "List runs",
  description:
    "Returns agent runs and wake events, newest first, with their replies and deliveries. Filter by status, session, mapping, words of the name, and time. The list ends when `nextCursor` is null.",
  example: examples.listRuns,
  schemas: {
    query: Type.Object(
      {
        status: q.anyOf(RunStatus, "Runs with this status."),
        ...runFilters,
        ...q.idPaging,
      },
      q.closed,
    ),
  },
  answers: { 200: Type.Object({ runs: s.Rows(Run), nextCursor: s.nextCursor }, s.named("RunList")) },
  errors: [],
  async handler({ query: { limit = 100, createdFrom, createdBefore, ...rest } }, { stores }) {
    const times = parseTimes({ createdFrom, createdBefore });
    return { status: 200, body: await listRuns(stores, { limit, ...rest, ...times }) };
  },
});

const getRunStats = route({
  method: "get",
  path: "/api/stats/runs",
  operationId: "getRunStats",
  scopes: ["runs:read"],
  tag: "runs",
  summary: "Count runs",
  description:
    "Returns the number of runs by status. With the filters of the list it counts the runs that match, at most 10,000 of them; without filters at most 10,000 of each status. `capped` is true if there are more.",
  example: examples.getRunStats,
  schemas: { query: Type.Object(runFilters, q.closed) },
  answers: { 200: RunStats },
  errors: [],
  async handler({ query: { createdFrom, createdBefore, ...rest } }, { stores }) {
    const times = parseTimes({ createdFrom, createdBefore });
    return { status: 200, body: await countRuns(stores.runs, { ...rest, ...times }) };
  },
});

export const runListRoutes = [getRuns, getRunStats];
