import type { Clock } from "../../shared/clock.ts";

/** Readings that are compared. A reading that arrives late makes MongoDB's time seem too early, so the latest time counts. */
const READINGS = 5;
/** Maximum difference between the clocks of synchronized machines, in milliseconds. */
const MAX_SKEW_MS = 1_000;

/**
 * The time that all processes share: the machine's if it differs from MongoDB's by at most a second, otherwise MongoDB's.
 * Processes need it because each reads leases and delays that others write, and the clocks of their machines may be wrong.
 * Between two readings, the time follows a monotonic clock, so that changes of the machine's clock do not matter.
 */
export class DatabaseClock implements Clock {
  /** MongoDB's time minus the monotonic time of this process, in milliseconds, at each reading. */
  #readings: readonly number[] = [];
  #aheadMs: number | undefined;

  /** Records a reading. @param time MongoDB's time, which has just arrived */
  read(time: Date): void {
    this.#readings = [...this.#readings, time.getTime() - performance.now()].slice(-READINGS);
    this.#aheadMs = Math.max(...this.#readings);
  }

  now(): Date {
    const own = Date.now();
    const shared = this.#aheadMs === undefined ? own : this.#aheadMs + performance.now();
    return new Date(Math.abs(own - shared) <= MAX_SKEW_MS ? own : shared);
  }
}
