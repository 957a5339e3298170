import { expect } from "chai";

const FACTOR = 8;
/** Allows half an order of magnitude above linear growth; quadratic growth takes `FACTOR` times as long as linear. */
const MAX_GROWTH = 4 * FACTOR;
/** Shorter times say little about the growth. */
const MIN_MS = 10;
const MAX_MEASUREMENTS = 3;

/**
 * Throws unless a function takes at most linear time: it runs with `size` and with eight times that size.
 * Processor time is measured, which excludes other load of the machine but includes the garbage collector, so the least
 * of up to three measurements counts.
 */
export function expectLinearTime(act: (size: number) => void, size: number, what?: string): void {
  const limitMs =
    MAX_GROWTH *
    Math.max(
      processorMs(() => act(size)),
      MIN_MS,
    );
  let leastMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < MAX_MEASUREMENTS && leastMs >= limitMs; i++)
    leastMs = Math.min(
      leastMs,
      processorMs(() => act(FACTOR * size)),
    );

  expect(leastMs, what).to.be.below(limitMs);
}

/** Returns the user processor time of a function in milliseconds. */
function processorMs(act: () => void): number {
  const start = process.cpuUsage();
  act();
  return process.cpuUsage(start).user / 1_000;
}
