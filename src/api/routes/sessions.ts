import Type from "typebox";
import { readMessages } from "../../models/runs/readRuns.ts";
import { listSessions } from "../../models/sessions/readSessions.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const MAX_EVENTS_CHARS = 1024 * 1024;

const getSessions = route({
  method: "get",
  path: "/api/sessions",
  operationId: "listSessions",
  tag: "sessions",
  summary: "Sessions, the one used last first",
  schemas: {
    query: Type.Object(s.idPaging, closed),
  },
  answers: {
    200: Type.Object(
      {
        sessions: Type.Array(
          Type.Object(
            {
              sessionKey: Type.String(),
              lastUsedAt: s.Timestamp("When its latest turn began."),
              busy: Type.Boolean({ description: "A turn is under way." }),
            },
            closed,
          ),
        ),
        nextCursor: s.nextCursor,
      },
      closed,
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
  tag: "sessions",
  summary: "What waits for the main session's next turn, oldest first",
  schemas: { query: Type.Object({ limit: s.paging.limit }, closed) },
  answers: {
    200: Type.Object(
      {
        events: Type.Array(
          Type.Object(
            {
              eventId: Type.String(),
              text: Type.String(),
              source: Type.String(),
              createdAt: s.Timestamp("When it came."),
            },
            closed,
          ),
        ),
        waiting: Type.Integer({ minimum: 0, description: "All that wait, these and others." }),
      },
      closed,
    ),
  },
  errors: [],
  async handler({ query: { limit = 100 } }, { stores }) {
    const [{ events }, waiting] = await Promise.all([
      stores.events.findWaiting({ limit, maxChars: MAX_EVENTS_CHARS }),
      stores.events.countWaiting(),
    ]);
    const rows = events.map(({ _id, text, source, createdAt }) => ({
      ...{ eventId: _id, text, source, createdAt: createdAt.toISOString() },
    }));
    return { status: 200, body: { events: rows, waiting } };
  },
});

const removeWaitingEvent = route({
  method: "delete",
  path: "/api/sessions/main/events/:eventId",
  operationId: "deleteWaitingEvent",
  tag: "sessions",
  summary: "Take an event off the main session's queue",
  description: "For one that no turn gets past. A turn that is under way may know it already.",
  schemas: { params: Type.Object({ eventId: s.Identifier("An eventId of the list.") }) },
  answers: { 200: s.Ok },
  errors: ["event_not_found"],
  async handler({ params }, { stores }) {
    await stores.events.remove(params.eventId);
    return { status: 200, body: { ok: true as const } };
  },
});

const getMessages = route({
  method: "get",
  path: "/api/sessions/:sessionKey/messages",
  operationId: "listMessages",
  tag: "sessions",
  summary: "The latest messages of a session, oldest first",
  schemas: {
    params: Type.Object({ sessionKey: s.Identifier("The session's key; `main` is the main session.") }),
    query: Type.Object({ limit: s.paging.limit }, closed),
  },
  answers: {
    200: Type.Object(
      {
        messages: Type.Array(
          Type.Object(
            {
              role: Type.Enum(["user", "assistant"]),
              content: Type.String(),
              createdAt: s.Timestamp("When its turn ended."),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
  },
  errors: ["session_not_found"],
  async handler({ params, query }, { stores }) {
    const turns = await readMessages(stores, params.sessionKey, query.limit ?? 100);
    const messages = turns.map(({ role, content, createdAt }) => ({
      role,
      content,
      createdAt: createdAt.toISOString(),
    }));
    return { status: 200, body: { messages } };
  },
});

export const sessionRoutes = [getSessions, getWaitingEvents, removeWaitingEvent, getMessages];
