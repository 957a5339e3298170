import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

/** The actions that the audit log records. */
export const AuditAction = Type.Enum(
  [
    "job.delete",
    "jobs.delete",
    "job.cancel",
    "token.create",
    "share.create",
    "share.revoke",
    "gate.answer",
    "gate.withdraw",
    "gate.expire",
    "chat.refused",
    "run.retry",
    "run.again",
    "run.cancel",
    "delivery.retry",
    "delivery.cancel",
    "event.delete",
    "rule.test",
    "channel.test",
    "channel.check",
    "channel.resume",
    "reply-target.set",
    "reply-target.clear",
    "request.replay",
    "hook.test",
    "login",
    "logout",
    "token.refused",
  ],
  {
    title: "AuditAction",
    description:
      "`chat.refused`: a person pressed a button who is not in `allowFrom` of the channel. `token.refused`: a request or a log-in had an invalid or expired token, or the link of a gate or a job was not valid.",
  },
);
export type AuditAction = Static<typeof AuditAction>;

/** An entry of the audit log. */
export const AuditEntry = Type.Object(
  {
    auditId: Type.String({ description: "Identifies the entry." }),
    at: s.Timestamp("When the action took place."),
    actor: Type.String({
      description:
        "The caller: the name of a token, `cookie:NAME` for a browser that logged in with it, `job-token:JOB`, `oidc:PERSON`, `header:PERSON`, `CHANNEL:ID (NAME)` for a person in a chat, or `anonymous`.",
    }),
    action: AuditAction,
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
export type AuditEntry = Static<typeof AuditEntry>;
