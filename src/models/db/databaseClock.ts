import type { Clock } from "../../shared/clock.ts";

/** One that arrives late makes MongoDB's time seem earlier than it is: of so many of them the earliest arrival counts. */
const READINGS = 5;
/** Clocks of machines that are kept right differ by less. */
const RIGHT_MS = 1_000;

/**
 * The time that all processes share: the machine's, as long as that is MongoDB's to a second, and MongoDB's otherwise.
 * Leases and waits that one process writes are read by others, whose clocks may have been set otherwise meanwhile. Between
 * two readings it goes on by the time that passes, whatever the machine's clock is set to.
 */
export class DatabaseClock implements Clock {
  /** How far MongoDB's time was ahead of the time since this process began. */
  #readings: readonly number[] = [];
  #aheadMs: number | undefined;

  /** @param time MongoDB's, as it has arrived this moment */
  read(time: Date): void {
    this.#readings = [...this.#readings, time.getTime() - performance.now()].slice(-READINGS);
    this.#aheadMs = Math.max(...this.#readings);
  }

  now(): Date {
    const own = Date.now();
    const shared = this.#aheadMs === undefined ? own : this.#aheadMs + performance.now();
    return new Date(Math.abs(own - shared) <= RIGHT_MS ? own : shared);
  }
}
