import type { Delivery, DeliveryKind } from "./deliveries.ts";
import type { FreeObject } from "./jobs.ts";
import type { WakeMode } from "./options.ts";
import type { Usage } from "./runs.ts";

/** A rule of the configuration, without secrets. */
export interface NotifyRule {
  ruleId: string;
  /** The types of events. */
  on: string[];
  /** The conditions; null if the rule handles every event of these types. */
  where: FreeObject | null;
  to: {
    kind: DeliveryKind;
    /** The origin of a webhook's address. */
    url: string | null;
    format: "standard" | "cloudevents" | null;
    channel: string | null;
    /** The recipient on the channel. */
    to: string | null;
    wakeMode: WakeMode | null;
  };
  /** The failures in a row from which `job.failed` is announced. */
  after: number;
  /** The minimum time between two messages about one subject, such as `1h`. */
  cooldown: string | null;
  /** The latest event that was delivered. */
  lastEvent: { type: string; at: string } | null;
  /** The latest five, newest first. */
  latestDeliveries: Delivery[];
  pending: number;
  /** Failed deliveries of the last 24 hours. */
  failed: number;
}

/** A job that must be created regularly. */
export interface Expectation {
  expectationId: string;
  /** The beginning of the name of the expected jobs. */
  name: string;
  every: string;
  grace: string | null;
  /** When such a job was last created. */
  lastSeenAt: string | null;
  /** When a job was due and missing; null if none is missing. */
  missedAt: string | null;
  /** When the next job is due, with the grace; null until a worker has begun to watch. */
  nextDueAt: string | null;
}

export interface Channel {
  channel: string;
  configured: boolean;
  pending: number;
  /** Failed deliveries of the last 24 hours. */
  failed: number;
  lastSentAt: string | null;
  lastFailure: string | null;
  /** `stopped` while pending deliveries wait because the service refuses the credentials. */
  state: "ready" | "stopped";
  stoppedSince: string | null;
  reason: string | null;
  /** When a delivery tries the credentials again; null when ready, or while one is tried. */
  nextTryAt: string | null;
}

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
  auditId: string;
  at: string;
  /** The name of a token, `cookie:NAME`, `job-token:JOB` or `anonymous`. */
  actor: string;
  action: AuditAction;
  target: string | null;
  address: string;
  /** The id that the caller sent, or that of the service. */
  requestId: string;
  /** The id that the service gave the request. */
  serviceRequestId: string;
}

/** The access of a browser; `needsToken` is true if the service requires a login. */
export interface Access {
  needsToken: boolean;
  access: "full" | "read" | null;
  /** Name of the token with which the browser logged in. */
  name: string | null;
  scopes: string[];
  /** Beginning of the ids of the jobs that the log-in allows; null for all jobs. */
  jobIdPrefix: string | null;
  /** Address of the hooks, or its path; null if hooks are off or the browser has no access. */
  hooksUrl: string | null;
}

export interface Stats {
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  lastHour: { created: number; completed: number; failed: number };
  /** Whether more jobs match the filters than are counted, so that the numbers are lower bounds. */
  capped: boolean;
  /** Usage of the runs that ended in the last hour; null if nothing was reported. */
  usageLastHour: Usage | null;
}
