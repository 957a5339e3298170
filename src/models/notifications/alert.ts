import { ANY_NOTIFICATION_TYPES, type AnyNotificationType } from "../../shared/notifications/catalogue.ts";
import * as f from "../db/fields.ts";

/**
 * `early`: the row of failures is too short; `held`: the rule has sent a message about the subject lately; `listed`: the rule has
 * sent its messages of this minute, so that the notification is part of the summary.
 */
const Decision = f.object({
  id: f.string,
  kind: f.oneOf(["send", "early", "held", "listed"]),
  /** The number of notifications that were held back or dropped since the message before. */
  held: f.number,
});
export type Decision = f.Stored<typeof Decision>;

/** The messages that a rule has sent since a time, and the notifications that were too many. */
const Minute = f.object({
  since: f.date,
  sent: f.number,
  /** Whether the summary of this minute was sent. */
  summarized: f.boolean,
  /** The number of notifications of the next summary, the names of the first ones, and its type. */
  more: f.number,
  listed: f.listOf(f.string),
  type: f.nullable(f.oneOf(ANY_NOTIFICATION_TYPES)),
  /** The largest depth of these notifications; missing for 0. */
  depth: f.optional(f.number),
});
export type Minute = f.Stored<typeof Minute>;

/** A summary whose delivery may not be stored yet. */
const Summary = f.object({
  id: f.string,
  type: f.oneOf(ANY_NOTIFICATION_TYPES),
  more: f.number,
  listed: f.listOf(f.string),
  depth: f.optional(f.number),
  /** Failed tries to send it; missing for 0. */
  tries: f.optional(f.number),
});
export type Summary = f.Stored<typeof Summary>;

/** The notifications that a rule has sent and held back: about one subject, such as the jobs of one name, or in one minute. */
export const AlertDoc = f.object({
  /** Rule and subject as JSON. */
  _id: f.string,
  /** When the latest failures in a row happened, at most as many as the rule counts. */
  failedAt: f.listOf(f.date),
  /** When the subject last completed; null if that is unknown. */
  completedAt: f.nullable(f.date),
  lastSentAt: f.nullable(f.date),
  /** Notifications since the last message. */
  held: f.number,
  /** Only of a rule as a whole. */
  minute: f.optional(Minute),
  summary: f.optional(Summary),
  /** When a summary is to be made or sent; missing while there is none. */
  dueAt: f.optional(f.date),
  /** The decisions about the latest notifications, because a notification may be dispatched twice. */
  decided: f.listOf(Decision),
  /** Incremented by each change. */
  version: f.number,
  expiresAt: f.date,
});
export type AlertDoc = f.Stored<typeof AlertDoc>;

export const alertSchema = f
  .schemaOf(AlertDoc)
  .index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
  .index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });

/** A notification about a subject, and how its rule limits messages. */
export interface AlertedNotification {
  readonly id: string;
  readonly type: AnyNotificationType;
  readonly at: Date;
  /** The number of notifications that it stands for: more than one if others were dropped before it. */
  readonly count: number;
  /** The number of failures in a row from which `job.failed` is announced. */
  readonly after: number;
  /** Minimum time between two messages; 0 for no limit. */
  readonly cooldownMs: number;
  /** Whether the notification only ends a row of failures: the rule does not handle it. */
  readonly isUnhandled: boolean;
}
