import type { Documents } from "../db/documents.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";
import type { AlertDoc, Summary } from "./alert.ts";
import { AlertChanges } from "./alertChanges.ts";
import { MAX_TRIES } from "./outbox.ts";

/**
 * Returns the key of the notifications about a subject by a rule; without a subject that of all its messages, or of all its
 * questions.
 */
export const alertKey = (rule: string, subject: string | null, { isQuestion = false } = {}): string =>
  JSON.stringify(subject === null ? [rule, null, ...(isQuestion ? ["questions"] : [])] : [rule, subject]);

export class Alerts {
  readonly collection: Documents<AlertDoc>;

  constructor(collection: Documents<AlertDoc>) {
    this.collection = collection;
  }

  /** Reads alerts, to decide about many notifications together. */
  async open(keys: readonly string[]): Promise<AlertChanges> {
    const found = keys.length > 0 ? await this.collection.find({ _id: { $in: [...new Set(keys)] } }) : [];
    return new AlertChanges(found);
  }

  /**
   * Stores changed alerts, unless another process has changed one since it was read.
   * @returns whether all of them were stored. Those that were stay: the decisions about the same notifications are the same
   *   next time.
   */
  async save({ changed }: AlertChanges): Promise<boolean> {
    if (changed.length === 0) return true;
    const writes = changed.map((alert) => ({
      replaceOne: { filter: { _id: alert._id, version: alert.version - 1 }, replacement: alert, upsert: true },
    }));
    try {
      await this.collection.bulkWrite(writes, { ordered: false });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Returns whether a summary is due. */
  hasDue(now: Date): Promise<boolean> {
    return this.collection.exists({ dueAt: { $lte: now } });
  }

  /** Reads the rules whose summary is due, or was not sent because a process ended. */
  async openDue(now: Date): Promise<AlertChanges> {
    const changes = new AlertChanges(await this.collection.find({ dueAt: { $lte: now } }));
    changes.summarize(now);
    return changes;
  }

  /** Removes a summary whose delivery is stored. */
  async removeSummary({ _id }: Pick<AlertDoc, "_id">, { id }: Summary): Promise<void> {
    const change = {
      summary: "$$REMOVE",
      dueAt: { $cond: [{ $gt: ["$minute.more", 0] }, "$dueAt", "$$REMOVE"] },
      version: { $add: ["$version", 1] },
    };
    await this.collection.updateOne({ _id, "summary.id": id }, [{ $set: change }]);
  }

  /**
   * Counts a failed try to send a summary. After the last permitted one the summary is removed, so that it holds up no later one.
   * @returns whether it was removed
   */
  async countFailure(alert: Pick<AlertDoc, "_id">, summary: Summary): Promise<boolean> {
    const tries = (summary.tries ?? 0) + 1;
    if (tries >= MAX_TRIES) await this.removeSummary(alert, summary);
    else {
      const counted = { $set: { "summary.tries": tries }, $inc: { version: 1 } };
      await this.collection.updateOne({ _id: alert._id, "summary.id": summary.id }, counted);
    }
    return tries >= MAX_TRIES;
  }
}
