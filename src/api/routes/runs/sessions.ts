import Type from "typebox";
import { readMessages } from "../../../models/runs/readRuns.ts";
import { MESSAGE_CURSOR_PATTERN } from "../../../models/sessions/message.ts";
import { listSessions } from "../../../models/sessions/readSessions.ts";
import * as s from "../../../wire/blocks.ts";
import { Message, Session, WaitingEvent } from "../../../wire/session.ts";
import * as examples from "../../examples/gateway.ts";
import { route } from "../../routing/route.ts";
import * as q from "../../schemas/requests.ts";

const MAX_EVENTS_CHARS = 1024 * 1024;

const getSessions = route({
  method: "get",
  path: "/api/sessions",
  operationId: "listSessions",
  scopes: ["runs:read"],
  tag: "sessions",
  summary: "List sessions",
  description: "Returns the conversations of the agent, the latest first.",
  example: examples.listSessions,
  schemas: {
    query: Type.Object(q.idPaging, q.closed),
  },
  answers: {
    200: Type.Object(
      {
        sessions: s.Rows(Session),
        nextCursor: s.nextCursor,
      },
      s.named("SessionList"),
    ),
  },
  errors: [],
  async handler({ query: { limit = 100, cursor } }, { stores, clock }) {
    return { status: 200, body: await listSessions(stores, { limit, cursor }, clock.now()) };
  },
});

const getWaitingEvents = route({
  method: "get",
  path: "/api/sessions/main/events",
  operationId: "listWaitingEvents",
  scopes: ["runs:read"],
  tag: "sessions",
  summary: "List waiting events of the main session",
  description: "Returns the events that wait for the next turn of the main session, oldest first.",
  example: examples.listWaitingEvents,
  schemas: { query: Type.Object({ limit: q.paging.limit }, q.closed) },
  answers: {
    200: Type.Object(
      {
        events: s.Rows(WaitingEvent),
        waiting: Type.Integer({
          minimum: 0,
          description: "Number of all waiting events, including those that the list leaves out.",
        }),
      },
      s.named("WaitingEventList"),
    ),
  },
  errors: [],
  async handler({ query: { limit = 100 } }, { stores }) {
    const [{ events }, waiting] = await Promise.all([
      stores.mainEvents.findWaiting({ limit, maxChars: MAX_EVENTS_CHARS }),
      stores.mainEvents.countWaiting(),
    ]);
    const rows = events.map(({ _id, text, source, createdAt }) => ({
      eventId: _id,
      text,
      source,
      createdAt: createdAt.toISOString(),
    }));
    return { status: 200, body: { events: rows, waiting } };
  },
});

const removeWaitingEvent = route({
  method: "delete",
  path: "/api/sessions/main/events/:eventId",
  operationId: "deleteWaitingEvent",
  scopes: ["runs:write"],
  tag: "sessions",
  summary: "Delete a waiting event",
  description:
    "Removes an event from the queue of the main session. Use it for an event that makes every turn fail. A turn that is already running may have read the event.",
  example: examples.deleteWaitingEvent,
  schemas: { params: Type.Object({ eventId: s.Identifier("Identifies the event: an `eventId` of the list.") }) },
  answers: { 200: s.Ok },
  errors: ["event_not_found"],
  audit: ({ params }) => ({ action: "event.delete", target: params.eventId }),
  async handler({ params }, { stores }) {
    await stores.mainEvents.remove(params.eventId);
    return { status: 200, body: { ok: true as const } };
  },
});

const getMessages = route({
  method: "get",
  path: "/api/sessions/:sessionKey/messages",
  operationId: "listMessages",
  scopes: ["runs:read"],
  tag: "sessions",
  summary: "List the messages of a session",
  description:
    "Returns the latest messages of a conversation, oldest first. The key `main` is the main session. `nextCursor` leads to the page with the earlier messages.",
  example: examples.listMessages,
  schemas: {
    params: Type.Object({ sessionKey: s.Identifier("Identifies the conversation; `main` is the main session.") }),
    query: Type.Object({ limit: q.paging.limit, cursor: q.cursor(MESSAGE_CURSOR_PATTERN) }, q.closed),
  },
  answers: {
    200: Type.Object(
      {
        messages: s.Rows(Message),
        nextCursor: s.nullable(Type.String(), {
          description: "Send it as `cursor` to read earlier messages. Null if there are none.",
        }),
      },
      s.named("MessageList"),
    ),
  },
  errors: ["session_not_found"],
  async handler({ params: { sessionKey }, query: { limit = 100, cursor } }, { stores }) {
    return { status: 200, body: await readMessages(stores, sessionKey, { limit, cursor }) };
  },
});

export const sessionRoutes = [getSessions, getWaitingEvents, removeWaitingEvent, getMessages];
