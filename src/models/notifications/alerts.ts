import type { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { BsonDate, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { isDuplicateKey, mapMongoErrors } from "../db/mongoErrors.ts";
import type { NotedType } from "./note.ts";

/** `early`: the row of failures is too short; `held`: the rule has sent a message about the subject lately. */
const Decision = closedObject({
  id: Type.String(),
  kind: Type.Enum(["send", "early", "held"]),
  /** The number of events that were held back since the message before. */
  held: Type.Number(),
});
type Decision = Static<typeof Decision>;

/** The events that a rule has sent and held back about one subject, such as the jobs of one name. */
export const AlertDoc = closedObject({
  /** Rule and subject as JSON. */
  _id: Type.String(),
  /** Failures in a row. */
  failures: Type.Number(),
  lastSentAt: nullable(BsonDate),
  /** Events since the last message. */
  held: Type.Number(),
  /** The decisions about the latest events, because an event may be dispatched twice. */
  decided: Type.Array(Decision),
  /** Incremented by each change. */
  version: Type.Number(),
  expiresAt: BsonDate,
});
export type AlertDoc = Static<typeof AlertDoc>;

export const alertCollection = defineCollection(AlertDoc, [{ keys: { expiresAt: 1 }, expireAfterSeconds: 0 }]);

/** Maximum decisions that are kept for one subject: more events than are dispatched a second time after a crash. */
const MAX_DECISIONS = 200;
/** How long a subject without events is kept, so that the failures of a job that runs once a quarter are counted. */
const KEEP_MS = 100 * 86_400_000;
/** Maximum optimistic-lock retries; each time another worker has dispatched an event about the same subject. */
const MAX_ATTEMPTS = 100;

/** An event about a subject, and how its rule limits messages. */
export interface AlertEvent {
  readonly id: string;
  readonly type: NotedType;
  readonly at: Date;
  /** The number of failures in a row from which `job.failed` is announced. */
  readonly after: number;
  /** Minimum time between two messages; 0 for no limit. */
  readonly cooldownMs: number;
}

export class Alerts {
  readonly collection: mongo.Collection<AlertDoc>;

  constructor(collection: mongo.Collection<AlertDoc>) {
    this.collection = collection;
  }

  /**
   * Decides whether a rule sends an event about a subject now, and counts the event. The decision about an event stays the same
   * when it is dispatched again.
   * @throws AppError unavailable
   */
  async decide(rule: string, subject: string, event: AlertEvent): Promise<Decision> {
    const _id = JSON.stringify([rule, subject]);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const stored = await readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id }));
      const known = stored?.decided.find(({ id }) => id === event.id);
      if (known) return known;
      const { decision, alert } = decide(stored ?? newAlert(_id), event);
      if (await this.#write(alert, stored)) return decision;
    }
    throw new Error(`the alert ${_id} changed ${MAX_ATTEMPTS} times while it was changed`);
  }

  /** Writes an alert if it has not changed. @returns whether it had not */
  async #write(alert: AlertDoc, stored: AlertDoc | null): Promise<boolean> {
    const { _id } = alert;
    if (stored) {
      const query = { _id, version: stored.version };
      return (await mapMongoErrors(() => this.collection.replaceOne(query, alert))).matchedCount > 0;
    }
    try {
      await mapMongoErrors(() => this.collection.insertOne(alert));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Ends the row of failures about a subject. @throws AppError unavailable */
  async endFailures(rule: string, subject: string): Promise<void> {
    const query = { _id: JSON.stringify([rule, subject]), failures: { $gt: 0 } };
    await mapMongoErrors(() => this.collection.updateOne(query, { $set: { failures: 0 }, $inc: { version: 1 } }));
  }
}

const newAlert = (_id: string): AlertDoc => ({
  ...{ _id, failures: 0, lastSentAt: null, held: 0, decided: [], version: 0 },
  expiresAt: new Date(0),
});

function decide(alert: AlertDoc, event: AlertEvent): { decision: Decision; alert: AlertDoc } {
  const { id, type, at, after, cooldownMs } = event;
  const failures = type === "job.failed" ? alert.failures + 1 : type === "job.completed" ? 0 : alert.failures;
  const isEarly = type === "job.failed" && failures < after;
  const isHeld = alert.lastSentAt !== null && at.getTime() < alert.lastSentAt.getTime() + cooldownMs;
  const kind = isEarly ? "early" : isHeld ? "held" : "send";
  const decision: Decision = { id, kind, held: kind === "send" ? alert.held : 0 };
  return {
    decision,
    alert: {
      ...{ _id: alert._id, failures, version: alert.version + 1 },
      lastSentAt: kind === "send" ? at : alert.lastSentAt,
      held: kind === "send" ? 0 : alert.held + (kind === "held" ? 1 : 0),
      decided: [...alert.decided, decision].slice(-MAX_DECISIONS),
      expiresAt: new Date(at.getTime() + cooldownMs + KEEP_MS),
    },
  };
}
