import Type from "typebox";
import { AuditAction, AuditEntry } from "../../wire/audit.ts";
import * as s from "../../wire/blocks.ts";
import * as examples from "../examples/service.ts";
import { route } from "../routing/route.ts";
import { parseTimes } from "../routing/validate.ts";
import * as q from "../schemas/requests.ts";

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
        action: q.anyOf(AuditAction, "Entries of this action."),
        target: Type.Optional(
          Type.String({ minLength: 1, maxLength: 4_096, description: "Entries about this record." }),
        ),
        from: Type.Optional(s.Timestamp("Entries from this time on.")),
        before: Type.Optional(s.Timestamp("Entries from before this time.")),
        ...q.idPaging,
      },
      q.closed,
    ),
  },
  answers: { 200: Type.Object({ entries: s.Rows(AuditEntry), nextCursor: s.nextCursor }, s.named("AuditList")) },
  errors: [],
  async handler({ query: { limit = 100, from, before, ...rest } }, { stores }) {
    const times = parseTimes({ from, before });
    return { status: 200, body: await stores.audit.list({ limit, ...rest, ...times }) };
  },
});

export const auditRoutes = [getAudit];
