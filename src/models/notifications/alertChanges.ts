import type { AnyNotificationType } from "../../shared/notifications/catalogue.ts";
import { depthField } from "../notes/depth.ts";
import type { AlertDoc, AlertedNotification, Decision, Minute, Summary } from "./alert.ts";

/** Maximum decisions that are kept for one subject: more notifications than are dispatched a second time after a crash. */
const MAX_DECISIONS = 200;
/** How long a subject is kept at least, because notifications may be dispatched late or twice. */
const KEEP_MS = 3_600_000;
/**
 * How much longer than its cooldown a subject with notifications that were held back is kept, for a message that has their
 * number.
 */
const KEEP_HELD_MS = 86_400_000;
/** How long failures in a row, and notifications of a summary, are kept: a job may run once a quarter. */
const KEEP_FAILURES_MS = 100 * 86_400_000;
/** Maximum messages that a rule sends within a minute. */
const MAX_MESSAGES = 20;

/** Alerts that were read together, and what is decided about notifications until they are stored. */
export class AlertChanges {
  readonly #alerts: Map<string, AlertDoc>;
  readonly #changed = new Set<string>();

  constructor(stored: readonly AlertDoc[]) {
    this.#alerts = new Map(stored.map((alert) => [alert._id, structuredClone(alert)]));
  }

  get changed(): readonly AlertDoc[] {
    return [...this.#changed].map((key) => this.#alerts.get(key) as AlertDoc);
  }

  /** The summaries that wait for their delivery. */
  get summaries(): readonly { readonly _id: string; readonly summary: Summary }[] {
    return [...this.#alerts.values()].flatMap(({ _id, summary }) => (summary ? [{ _id, summary }] : []));
  }

  /**
   * Decides whether a rule sends a notification about a subject, and counts the notification. The decision stays the same when
   * it is dispatched again. Failures are in a row by the time at which they happened, whatever the order of their dispatch.
   */
  decide(key: string, { id, type, at, count, after, cooldownMs, isUnhandled }: AlertedNotification): Decision {
    const alert = this.#read(key);
    const known = alert.decided.find((one) => one.id === id);
    if (known) return known;
    const isFailure = type === "job.failed";
    if (type === "job.completed" && (alert.completedAt === null || at > alert.completedAt)) alert.completedAt = at;
    if (isFailure) alert.failedAt.push(at);
    const { completedAt } = alert;
    const inRow = alert.failedAt.filter((time) => completedAt === null || time > completedAt);
    alert.failedAt = after > 1 ? inRow.sort((a, b) => a.getTime() - b.getTime()).slice(-after) : [];
    const isEarly = isFailure && after > 1 && (alert.failedAt.length < after || !alert.failedAt.includes(at));
    const isHeld = alert.lastSentAt !== null && at.getTime() < alert.lastSentAt.getTime() + cooldownMs;
    const kind = isEarly || isUnhandled ? "early" : isHeld ? "held" : "send";
    const decision: Decision = { id, kind, held: kind === "send" ? alert.held + count - 1 : 0 };
    if (kind === "send") Object.assign(alert, { lastSentAt: at, held: 0 });
    if (kind === "held") alert.held += count;
    this.#store(alert, decision, at, [
      ...(alert.lastSentAt ? [alert.lastSentAt.getTime() + cooldownMs + (alert.held > 0 ? KEEP_HELD_MS : 0)] : []),
      ...(alert.failedAt.length > 0 ? [at.getTime() + KEEP_FAILURES_MS] : []),
    ]);
    return decision;
  }

  /**
   * Decides whether a rule sends a message now, or lists the notification in the summary of the minute.
   * @param key the key of the rule without a subject
   * @param name the notification in the list
   * @param held the number of other notifications that the message stands for
   * @param depth the depth of the notification, which that of the summary is not below
   */
  admit(
    key: string,
    { id, type }: Pick<AlertedNotification, "id" | "type">,
    { name, held, depth, now }: Listed,
  ): Decision {
    const alert = this.#read(key);
    const known = alert.decided.find((one) => one.id === id);
    if (known) return known;
    const minute = minuteAt(alert.minute, now);
    const isFull = minute.sent >= MAX_MESSAGES;
    alert.minute = isFull ? withListed(minute, type, { name, held, depth }) : { ...minute, sent: minute.sent + 1 };
    if (alert.minute.more > 0) alert.dueAt ??= new Date(dueMs(alert.minute));
    const decision: Decision = { id, kind: isFull ? "listed" : "send", held };
    this.#store(alert, decision, now, isFull ? [now.getTime() + KEEP_FAILURES_MS] : []);
    return decision;
  }

  /** Makes the summaries that are due. */
  summarize(now: Date): void {
    for (const alert of this.#alerts.values()) {
      const { minute, summary } = alert;
      if (!minute || minute.more === 0 || summary) continue;
      if (now.getTime() < dueMs(minute)) continue;
      const { more, listed, type, depth } = minute;
      const id = ["summary", now.getTime(), ...(JSON.parse(alert._id) as unknown[]).slice(2)].join("-");
      alert.summary = { id, type: type ?? "test", more, listed, ...depthField(depth) };
      alert.dueAt = now;
      const { since, sent } = minuteAt(minute, now);
      alert.minute = { since, sent: sent + 1, summarized: true, more: 0, listed: [], type: null };
      alert.version++;
      this.#changed.add(alert._id);
    }
  }

  #read(key: string): AlertDoc {
    const found = this.#alerts.get(key);
    if (found) return found;
    const none = { failedAt: [], completedAt: null, lastSentAt: null, held: 0, decided: [], version: 0 };
    const alert = { _id: key, ...none, expiresAt: new Date(0) };
    this.#alerts.set(key, alert);
    return alert;
  }

  #store(alert: AlertDoc, decision: Decision, at: Date, keepUntil: readonly number[]): void {
    alert.decided = [...alert.decided, decision].slice(-MAX_DECISIONS);
    alert.expiresAt = new Date(Math.max(at.getTime() + KEEP_MS, ...keepUntil));
    if (!this.#changed.has(alert._id)) alert.version++;
    this.#changed.add(alert._id);
  }
}

interface Listed {
  readonly name: string;
  readonly held: number;
  readonly depth: number;
  readonly now: Date;
}

const MINUTE_MS = 60_000;
/** When the summary of a minute is sent: early enough that each notification is announced within a minute. */
const SUMMARY_AFTER_MS = 45_000;

/** Returns the minute that a time belongs to: the stored one, or a new one with what the last summary did not contain. */
function minuteAt(minute: Minute | undefined, now: Date): Minute {
  if (minute && now.getTime() < minute.since.getTime() + MINUTE_MS) return minute;
  const { more = 0, listed = [], type = null, depth } = minute ?? {};
  return { since: now, sent: 0, summarized: false, more, listed, type, ...depthField(depth) };
}

/** Returns when the notifications that a minute lists are due as a summary. */
const dueMs = ({ since, summarized }: Minute): number => since.getTime() + (summarized ? MINUTE_MS : SUMMARY_AFTER_MS);

/** Maximum names in a summary. */
const MAX_LISTED = 10;

/** An alert about a failed delivery must not be the subject of another one, also as a part of a summary. */
const withListed = (minute: Minute, type: AnyNotificationType, { name, held, depth }: Omit<Listed, "now">): Minute => ({
  ...minute,
  ...depthField(Math.max(minute.depth ?? 0, depth)),
  more: minute.more + 1 + held,
  listed: minute.listed.length < MAX_LISTED ? [...minute.listed, name] : minute.listed,
  type: type === "delivery.failed" ? type : (minute.type ?? type),
});
