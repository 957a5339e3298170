import type { Clock } from "../../shared/clock.ts";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";

/** How long the records of a period are kept after their last change: longer than a month with its end. */
const LIFETIME_SECONDS = 62 * 86_400;
/** Counted tries that a sum remembers, so that a try that is counted again after a crash counts once. */
const MAX_RECENT = 1_000;

/** The spending of the runs of one mapping in one period of a budget. */
const BudgetSpentDoc = f.object({
  /** Budget, period and mapping. */
  _id: f.string,
  budget: f.string,
  period: f.string,
  /** Null for runs without a mapping. */
  mapping: f.nullable(f.string),
  usd: f.number,
  tokens: f.number,
  minutes: f.number,
  /** The ids of the newest counted tries. */
  recent: f.listOf(f.string),
  changedAt: f.date,
});
export type BudgetSpentDoc = f.Stored<typeof BudgetSpentDoc>;

export const budgetSpentSchema = f
  .schemaOf(BudgetSpentDoc)
  .index({ budget: 1, period: 1 })
  .index({ changedAt: 1 }, { expireAfterSeconds: LIFETIME_SECONDS });

/**
 * The state of a budget in one period, or in one run:
 *
 *   within its limit --> asking     a run has opened a gate (`gateId`)
 *   asking --> within its limit     it was accepted: `raises` + 1
 *   asking --> declined             it was declined, or nobody answered in time: no run asks again
 */
const BudgetDoc = f.object({
  /** Budget and period, or budget and run. */
  _id: f.string,
  /** How often the limit was raised by its own amount. */
  raises: f.number,
  gateId: f.nullable(f.string),
  declined: f.boolean,
  /** Whether `budget.reached` was noted. */
  warned: f.boolean,
  changedAt: f.date,
});
export type BudgetDoc = f.Stored<typeof BudgetDoc>;

export const budgetSchema = f.schemaOf(BudgetDoc).index({ changedAt: 1 }, { expireAfterSeconds: LIFETIME_SECONDS });

/** The spending so far. */
export type Spent = Pick<BudgetSpentDoc, "usd" | "tokens" | "minutes">;

/** One try, as it is added to a sum. */
export interface CountedTry extends Pick<BudgetSpentDoc, "budget" | "period" | "mapping"> {
  readonly id: string;
  readonly spent: Spent;
}

const FRESH = { raises: 0, gateId: null, declined: false, warned: false };

export class Budgets {
  readonly collection: Documents<BudgetDoc>;
  readonly spent: Documents<BudgetSpentDoc>;
  readonly #clock: Clock;

  constructor(collection: Documents<BudgetDoc>, spent: Documents<BudgetSpentDoc>, clock: Clock) {
    this.collection = collection;
    this.spent = spent;
    this.#clock = clock;
  }

  /** Adds a try to the sum of its budget, period and mapping, once. */
  async count({ id, budget, period, mapping, spent }: CountedTry): Promise<void> {
    const query = { _id: JSON.stringify([budget, period, mapping]), recent: { $ne: id } };
    const update = {
      $inc: { ...spent },
      $push: { recent: { $each: [id], $slice: -MAX_RECENT } },
      $set: { changedAt: this.#clock.now() },
      $setOnInsert: { budget, period, mapping },
    };
    await this.spent.updateOne(query, update, { upsert: true }).catch(ignoreDuplicate);
  }

  /** Returns what was spent of a budget in a period. */
  async sum(budget: string, period: string): Promise<Spent> {
    const sums = await this.spent.find({ budget, period }, { projection: { recent: 0 } });
    const total = (figure: keyof Spent) => sums.reduce((sum, one) => sum + one[figure], 0);
    return { usd: total("usd"), tokens: total("tokens"), minutes: total("minutes") };
  }

  /** Reads what has become of a budget. */
  async read(_id: string): Promise<Omit<BudgetDoc, "_id" | "changedAt">> {
    return (await this.collection.findOne({ _id })) ?? FRESH;
  }

  /**
   * Changes what has become of a budget, if its gate is still the one that was read.
   * @returns false if another process has changed it
   */
  async change(
    _id: string,
    gateId: string | null,
    change: Partial<typeof FRESH> | { gateId: string },
  ): Promise<boolean> {
    const set = { ...change, changedAt: this.#clock.now() };
    const fresh = Object.fromEntries(Object.entries(FRESH).filter(([name]) => name !== "gateId" && !(name in change)));
    try {
      const query = { _id, gateId };
      const { matchedCount, upsertedCount } = await this.collection.updateOne(
        query,
        { $set: set, $setOnInsert: fresh },
        { upsert: gateId === null },
      );
      return matchedCount + upsertedCount === 1;
    } catch (error) {
      ignoreDuplicate(error);
      return false;
    }
  }
}

function ignoreDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}
