import type { Readable } from "node:stream";
import Type from "typebox";
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
    description: "Each server-sent event; see docs/reference/events.md.",
    required: ["event", "data"],
  },
  properties: {
    event: { type: "string" },
    data: { type: "string", description: "JSON." },
    id: { type: "string", description: "Where to resume; not every event has one." },
  },
});
const headers = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({ maxLength: 64, description: "The newest id seen: what came after it follows." }),
  ),
});
const position = Type.Optional(
  Type.String({ maxLength: 64, description: "As the header Last-Event-ID, for clients that cannot set one." }),
);

const getEvents = route({
  method: "get",
  path: "/api/events",
  operationId: "watchEvents",
  tag: "events",
  summary: "What changes, as it happens: jobs that the filters fit, runs and deliveries",
  schemas: {
    headers,
    query: Type.Object(
      {
        topic: Type.Optional(
          Type.Array(Type.Enum(TOPICS), { minItems: 1, description: "May be repeated; all of them without it." }),
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
  summary: "What changes of one job and its steps, as it happens",
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
