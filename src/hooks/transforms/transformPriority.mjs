import { readdirSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

let sessionWants = 0;
let sessionHas = 0;

/**
 * Lowers this process with all its threads, as far as the system lets it. Linux counts each thread for itself, those to
 * come like the one that starts them.
 * @param {number} niceness 1 to 19; it is never raised again
 */
export function lowerPriority(niceness) {
  const tasks = attempt(() => readdirSync("/proc/self/task")) ?? [process.pid];
  for (const task of tasks) attempt(() => setPriority(Number(task), niceness));
  sessionWants = niceness;
  lowerSession();
}

/**
 * Linux may weigh sessions against each other, and this process leads one. It takes such a change only once in 100 ms
 * from all together: to be called again and again.
 */
export function lowerSession() {
  if (sessionHas === sessionWants) return;
  try {
    writeFileSync("/proc/self/autogroup", String(sessionWants));
    sessionHas = sessionWants;
  } catch (error) {
    const later = error instanceof Error && "code" in error && error.code === "EAGAIN";
    if (!later) sessionHas = sessionWants;
  }
}

/** Where Linux has no memory left, this process goes first. */
export function goFirst() {
  attempt(() => writeFileSync("/proc/self/oom_score_adj", "1000"));
}

/** @template T @param {() => T} act @returns {T | undefined} */
function attempt(act) {
  try {
    return act();
  } catch {
    return undefined; // not this system, or not allowed
  }
}
