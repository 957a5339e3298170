import type { Delivery } from "./deliveries.ts";
import type { FreeObject } from "./jobs.ts";
import type { Usage } from "./runs.ts";

/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** A rule of the configuration, without secrets. */
export interface NotifyRule {
  /** The id of a rule of `notify`. */
  ruleId: string;
  /** Types of the events that the rule handles. */
  on: string[];
  /** Conditions that an event must meet; null if there are none. */
  where: FreeObject | null;
  /** Target of the events. */
  to: {
    kind: "channel" | "webhook" | "wake";
    url: string | null;
    format: "standard" | "cloudevents" | null;
    channel: string | null;
    to: string | null;
    wakeMode: "now" | "next-heartbeat" | null;
  };
  /** Failures in a row from which `job.failed` is announced. */
  after: number;
  /** Minimum time between two messages about one subject, such as `1h`; null for no limit. */
  cooldown: string | null;
  /** The latest event that the rule has sent; null if there was none, or its delivery was deleted. */
  lastEvent: { type: string; at: string } | null;
  /** The latest deliveries of the rule, at most five, newest first. */
  latestDeliveries: Delivery[];
  /** Number of deliveries of the rule that wait or are being sent. */
  pending: number;
  /** Number of deliveries of the rule from the last 24 hours that failed. */
  failed: number;
}

/** A job that must be created regularly. */
export interface Expectation {
  /** The id of an entry of `expect`. */
  expectationId: string;
  /** Beginning of the name of the expected jobs. */
  name: string;
  /** How often a new job is expected, such as `1d`; null with `cron`. */
  every: string | null;
  /** The times by which a job must have begun, as cron writes them; null with `every`. */
  cron: string | null;
  /** The time zone of `cron`; null with `every`. */
  timezone: string | null;
  /** How long a job may be late, such as `2h`; null for no time. */
  grace: string | null;
  /** When such a job was last created; null if none was created since the expectation was configured. */
  lastSeenAt: string | null;
  /** When a job was due and missing (`job.missing`); null if none is missing. */
  missedAt: string | null;
  /**
   * When the next job is due, with `grace`: `job.missing` follows if none has been created by then. It is past while a
   * job is overdue and not announced. Null until a worker has begun to watch.
   */
  nextDueAt: string | null;
}

/** The state of a channel and its deliveries. */
export interface Channel {
  /** Name of the channel. */
  channel: string;
  /** Whether the configuration has this channel. */
  configured: boolean;
  /** Number of deliveries that wait or are being sent. */
  pending: number;
  /** Number of deliveries of the last 24 hours that failed. */
  failed: number;
  /** When a delivery was last sent. Null if none was sent in 24 hours. */
  lastSentAt: string | null;
  /** Why the latest of the failed deliveries failed. */
  lastFailure: string | null;
  /** `stopped` while pending deliveries wait because the service refuses the credentials, otherwise `ready`. */
  state: "ready" | "stopped";
  /** When the service first refused the credentials. Null if `ready`. */
  stoppedSince: string | null;
  /** Why the channel is stopped. Null if `ready`. */
  reason: string | null;
  /** When a delivery tries the credentials again. Null if `ready`, or if one is tried now. */
  nextTryAt: string | null;
}

/** Since when and why a part of the mailbox fails. */
export interface MailboxFault {
  /** When the failures started. */
  since: string;
  /** Why it fails. */
  reason: string;
}

/** The state of listening to a mailbox. */
export interface Mailbox {
  /** True if there is no problem. */
  ok: boolean;
  /** One sentence for each problem, with what to do about it. */
  problems: string[];
  /** Address of the mailbox. */
  account: string;
  /** The process that listens, as `host:pid`. Null if none does. */
  listener: string | null;
  /** Seconds since the mailbox was last read completely. */
  lagSeconds: number | null;
  /** When the mailbox was last listed. */
  listedAt: string | null;
  /** When a mail last started a run. */
  lastMailAt: string | null;
  /** When the last notification of Gmail arrived. */
  lastNoticeAt: string | null;
  /** When Gmail stops sending notifications unless the watch is renewed. */
  watchExpiresAt: string | null;
  /** The faults of reading mails, receiving notifications and renewing the watch. */
  faults: { mails: MailboxFault | null; notices: MailboxFault | null; watch: MailboxFault | null };
  /** The latest error, even if it is over. Null if there was none. */
  lastError: { at: string; reason: string } | null;
}

/** An action that the audit log records. */
export type AuditAction =
  | "job.delete"
  | "jobs.delete"
  | "job.cancel"
  | "token.create"
  | "share.create"
  | "share.revoke"
  | "gate.answer"
  | "gate.withdraw"
  | "gate.expire"
  | "chat.refused"
  | "run.retry"
  | "run.again"
  | "run.cancel"
  | "delivery.retry"
  | "delivery.cancel"
  | "event.delete"
  | "rule.test"
  | "channel.test"
  | "channel.check"
  | "channel.resume"
  | "reply-target.set"
  | "reply-target.clear"
  | "request.replay"
  | "hook.test"
  | "login"
  | "logout"
  | "token.refused";

/** An entry of the audit log. */
export interface AuditEntry {
  /** Identifies the entry. */
  auditId: string;
  /** When the action took place. */
  at: string;
  /**
   * The caller: the name of a token, `cookie:NAME` for a browser that logged in with it, `job-token:JOB`,
   * `oidc:PERSON`, `header:PERSON`, `CHANNEL:ID (NAME)` for a person in a chat, or `anonymous`.
   */
  actor: string;
  /**
   * `chat.refused`: a person pressed a button who is not in `allowFrom` of the channel. `token.refused`: a request or a
   * log-in had an invalid or expired token, or the link of a gate or a job was not valid.
   */
  action: AuditAction;
  /**
   * Id of the record, or the filters of a deletion. A gate is `JOB/KEY`, with `%2F` for a slash within either. Null for
   * a log-in, a log-out or a refused token.
   */
  target: string | null;
  /** IP address of the caller. */
  address: string;
  /** Id of the request in the log: that of `X-Request-Id`, which the caller chooses, or that of the service. */
  requestId: string;
  /**
   * Id that the service gave the request; in the log `serviceReqId`, or `reqId` without `X-Request-Id`. Empty for an
   * expiry.
   */
  serviceRequestId: string;
}

/** The access of a browser. */
export interface Access {
  /** Whether a browser has to log in, because nobody is let in anonymously. */
  needsToken: boolean;
  /** `full` with the scope `admin`, otherwise `read`: see `scopes`. Null if the browser has to log in first. */
  access: "full" | "read" | null;
  /** Name of the person, or of the token with which the browser logged in. Null without a log-in. */
  name: string | null;
  /**
   * `token`, `provider` for the company's account (`server.oidc`), or `proxy` (`server.userHeader`). Null without a
   * log-in.
   */
  by: "token" | "provider" | "proxy" | null;
  /** The scopes of the log-in. Empty without a log-in. */
  scopes: string[];
  /**
   * Beginnings of the ids of the jobs that the log-in may read; the whole id after a log-in with the token of a job.
   * Null for all jobs, and before the log-in.
   */
  jobIdPrefixes: string[] | null;
  /**
   * Address of the hooks, beginning with `server.publicUrl`; only a path without that setting. Null if hooks are off,
   * and before the log-in.
   */
  hooksUrl: string | null;
  /** The log-in with the company's account (`server.oidc`). Null if it is not configured. */
  provider: { name: string; url: string } | null;
}

/** The number of jobs, and what happened in the last hour. */
export interface Stats {
  /** The jobs by status. */
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  /** The figures of the last hour. */
  lastHour: { created: number; completed: number; failed: number };
  /** Whether more than 10,000 jobs match the filters, so that each number is a lower bound. False without filters. */
  capped: boolean;
  /**
   * Usage of the agent runs that ended in the last hour, with all their attempts; null if nothing was reported, and
   * with filters.
   */
  usageLastHour: Usage | null;
}
