import Type from "typebox";
import * as s from "../../wire/blocks.ts";
import { jobsFor, mayDo } from "../auth/caller.ts";
import * as gateway from "../examples/gateway.ts";
import * as examples from "../examples/jobs.ts";
import { TOPICS } from "../live/changedRecords.ts";
import { LiveEvent, LiveJobEvent, LiveRunEvent } from "../live/liveEvents.ts";
import { withMetadata } from "../metadataFilter.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";
import { readFilters, toFilter } from "./jobs/jobs.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no", // otherwise nginx buffers the events
};

const headers = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({
      maxLength: 64,
      description: "The latest id that you received. The stream starts with the events after it.",
    }),
  ),
});
const position = Type.Optional(
  Type.String({
    maxLength: 64,
    description: "The same as the header `Last-Event-ID`, for clients that cannot set headers.",
  }),
);

const getEvents = route({
  method: "get",
  path: "/api/events",
  operationId: "watchEvents",
  scopes: ["jobs:read", "runs:read"],
  tag: "events",
  summary: "Watch jobs, runs and deliveries",
  description:
    'Opens a stream of server-sent events that reports each change of the jobs that match the filters, of runs and of deliveries. Use it instead of polling. After a broken connection, send the latest `id` as `Last-Event-ID` to receive what was missed. A token receives only the kinds of records that its scopes allow. "Try it out" does not show streams: use `curl -N`.',
  example: examples.watchEvents,
  schemas: {
    headers,
    query: Type.Object(
      {
        topic: Type.Optional(
          Type.Array(Type.Enum(TOPICS), {
            minItems: 1,
            description: "Kind of record to report. Repeat the parameter for several; all kinds by default.",
          }),
        ),
        lastEventId: position,
        ...readFilters,
      },
      withMetadata,
    ),
  },
  stream: true,
  authContext: "api",
  answers: { 200: LiveEvent },
  errors: [],
  async handler({ query, headers, authContext }, { live }) {
    const { topic = TOPICS, lastEventId, ...rest } = query;
    const topics = new Set(topic.filter((one) => mayDo(authContext, one === "jobs" ? "jobs:read" : "runs:read")));
    const subscription = { topics, filter: toFilter(rest, jobsFor(authContext, "jobs:read")) };
    const from = headers["last-event-id"] ?? lastEventId;
    return { status: 200, headers: HEADERS, body: live.open(subscription, from, authContext) };
  },
});

const getJobEvents = route({
  method: "get",
  path: "/api/jobs/:jobId/events",
  operationId: "watchJob",
  scopes: ["jobs:read"],
  tag: "events",
  summary: "Watch a job",
  description:
    'Opens a stream of server-sent events that reports each change of one job and its steps. After a broken connection, send the latest `id` as `Last-Event-ID` to receive what was missed. "Try it out" does not show streams: use `curl -N`.',
  example: examples.watchJob,
  schemas: {
    params: Type.Object({ jobId: s.JobId }),
    headers,
    query: Type.Object({ lastEventId: position }, q.closed),
  },
  stream: true,
  authContext: "api",
  answers: { 200: LiveJobEvent },
  errors: ["job_not_found"],
  async handler({ params: { jobId }, query, headers, authContext }, { live, stores }) {
    await stores.jobs.findId(jobId);
    const from = headers["last-event-id"] ?? query.lastEventId;
    return {
      status: 200,
      headers: HEADERS,
      body: live.open({ jobId, scope: jobsFor(authContext, "jobs:read") }, from, authContext),
    };
  },
});

const getRunEvents = route({
  method: "get",
  path: "/api/runs/:runId/events",
  operationId: "watchRun",
  scopes: ["runs:read"],
  tag: "events",
  summary: "Watch a run",
  description:
    'Opens a stream of server-sent events of a run: the text and the tools of its agent as they come, and its end, with which the stream ends. The latest 100 events of a run that has not ended are sent first, or with `Last-Event-ID` those after it. They are kept in Redis alone: without them the stream has only the end. A new attempt begins with `run.started`. "Try it out" does not show streams: use `curl -N`.',
  example: gateway.watchRun,
  schemas: {
    params: Type.Object({ runId: s.Identifier("Identifies the run. The response of the hook contains it.") }),
    headers,
    query: Type.Object({ lastEventId: position }, q.closed),
  },
  stream: true,
  authContext: "api",
  answers: { 200: LiveRunEvent },
  errors: ["run_not_found"],
  async handler({ params: { runId }, query, headers, authContext }, { runFeed, stores }) {
    await stores.runs.find(runId);
    const from = headers["last-event-id"] ?? query.lastEventId;
    return { status: 200, headers: HEADERS, body: runFeed.open(runId, from, authContext) };
  },
});

export const eventRoutes = [getEvents, getJobEvents, getRunEvents];
