import Type from "typebox";
import { AUDIT_ACTIONS } from "../../models/audit.ts";
import * as s from "../../wire/blocks.ts";
import * as examples from "../examples/service.ts";
import { route } from "../route.ts";
import * as q from "../schemas/requests.ts";
import { parseTimes } from "../validate.ts";

const closed = { additionalProperties: false } as const;
const Action = Type.Enum([...AUDIT_ACTIONS], {
  title: "AuditAction",
  description:
    "`token.refused`: a request or a log-in had an invalid or expired token, or the link of a gate was not valid.",
});

const Entry = Type.Object(
  {
    auditId: Type.String({ description: "Identifies the entry." }),
    at: s.Timestamp("When the action took place."),
    actor: Type.String({
      description:
        "The caller: the name of a token, `cookie:NAME` for a browser that logged in with it, `job-token:JOB`, or `anonymous`.",
    }),
    action: Action,
    target: s.nullable(Type.String(), {
      description:
        "Id of the record, or the filters of a deletion. A gate is `JOB/KEY`, with `%2F` for a slash within either. Null for a log-in, a log-out or a refused token.",
    }),
    address: Type.String({ description: "IP address of the caller." }),
    requestId: Type.String({
      description:
        "Id of the request in the log: that of `X-Request-Id`, which the caller chooses, or that of the service.",
    }),
    serviceRequestId: Type.String({
      description:
        "Id that the service gave the request; in the log `serviceReqId`, or `reqId` without `X-Request-Id`. Empty for an expiry.",
    }),
  },
  s.named("AuditEntry"),
);

const getAudit = route({
  method: "get",
  path: "/api/audit",
  operationId: "listAudit",
  scopes: ["admin"],
  tag: "operations",
  summary: "List the audit log",
  description:
    "Returns who deleted, cancelled, retried, answered or withdrew something, created a token, tested something, logged in or out, and which tokens were refused, newest first. Entries have no bodies and no secrets. They are kept for `retention.auditAfter`. The list ends when `nextCursor` is null.",
  example: examples.listAudit,
  schemas: {
    query: Type.Object(
      {
        actor: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024, description: "Entries of this caller." })),
        action: Type.Optional(
          Type.Array(Action, { minItems: 1, description: "Entries of this action. Repeat the parameter for several." }),
        ),
        target: Type.Optional(
          Type.String({ minLength: 1, maxLength: 4_096, description: "Entries about this record." }),
        ),
        from: Type.Optional(s.Timestamp("Entries from this time on.")),
        before: Type.Optional(s.Timestamp("Entries from before this time.")),
        ...q.idPaging,
      },
      closed,
    ),
  },
  answers: { 200: Type.Object({ entries: s.Rows(Entry), nextCursor: s.nextCursor }, s.named("AuditList")) },
  errors: [],
  async handler({ query: { limit = 100, from, before, ...rest } }, { stores }) {
    const times = parseTimes({ from, before });
    return { status: 200, body: await stores.audit.list({ limit, ...rest, ...times }) };
  },
});

export const auditRoutes = [getAudit];
