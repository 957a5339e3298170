import type { Readable } from "node:stream";
import Type from "typebox";
import * as examples from "../examples/jobs.ts";
import { TOPICS } from "../live/changedRecords.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";
import { filters, toFilter, withMetadata } from "./jobs.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no", // otherwise nginx buffers the events
};

const Stream = Type.Unsafe<Readable>({
  ...{
    type: "object",
    description: "One server-sent event. The guide lists the events: /guide/reference/events.",
    required: ["event", "data"],
  },
  properties: {
    event: { type: "string", description: "Kind of the event, such as `job`, `step`, `run` or `state`." },
    data: { type: "string", description: "The changed record as JSON." },
    id: { type: "string", description: "Position in the stream, to resume from. Not every event has one." },
  },
});
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
  tag: "events",
  summary: "Watch jobs, runs and deliveries",
  description:
    'Opens a stream of server-sent events that reports each change of the jobs that match the filters, of runs and of deliveries. Use it instead of polling. After a broken connection, send the latest `id` as `Last-Event-ID` to receive what was missed. "Try it out" does not show streams: use `curl -N`.',
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
        ...filters,
      },
      withMetadata,
    ),
  },
  stream: true,
  authContext: "api",
  answers: { 200: Stream },
  errors: [],
  async handler({ query, headers, authContext }, { live }) {
    const { topic = TOPICS, lastEventId, ...rest } = query;
    const subscription = { topics: new Set(topic), filter: toFilter(rest) };
    const from = headers["last-event-id"] ?? lastEventId;
    return { status: 200, headers: HEADERS, body: live.open(subscription, from, authContext.login) };
  },
});

const getJobEvents = route({
  method: "get",
  path: "/api/jobs/:jobId/events",
  operationId: "watchJob",
  tag: "events",
  summary: "Watch a job",
  description:
    'Opens a stream of server-sent events that reports each change of one job and its steps. After a broken connection, send the latest `id` as `Last-Event-ID` to receive what was missed. "Try it out" does not show streams: use `curl -N`.',
  example: examples.watchJob,
  schemas: {
    params: Type.Object({ jobId: s.JobId }),
    headers,
    query: Type.Object({ lastEventId: position }, { additionalProperties: false }),
  },
  stream: true,
  authContext: "api",
  answers: { 200: Stream },
  errors: ["job_not_found"],
  async handler({ params: { jobId }, query, headers, authContext }, { live, stores }) {
    await stores.jobs.findId(jobId);
    const from = headers["last-event-id"] ?? query.lastEventId;
    return { status: 200, headers: HEADERS, body: live.open({ jobId }, from, authContext.login) };
  },
});

export const eventRoutes = [getEvents, getJobEvents];
