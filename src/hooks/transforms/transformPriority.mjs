import { readdirSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

let autogroupTarget = 0;
let autogroupNiceness = 0;

/**
 * Lowers the priority of this process and all its threads, as far as the system allows that. On Linux each thread has a
 * niceness of its own, which new threads inherit from the thread that starts them.
 * @param {number} niceness 1 to 19; the priority is never raised again
 */
export function lowerPriority(niceness) {
  const tasks = attempt(() => readdirSync("/proc/self/task")) ?? [process.pid];
  for (const task of tasks) attempt(() => setPriority(Number(task), niceness));
  autogroupTarget = niceness;
  lowerAutogroup();
}

/**
 * Lowers the priority of this process's session to the last value given to `lowerPriority`. Linux may schedule sessions as
 * groups (autogroup), and this process leads a session. The kernel accepts only one such change in 100 ms from all
 * processes together, so callers repeat this call.
 */
export function lowerAutogroup() {
  if (autogroupNiceness === autogroupTarget) return;
  try {
    writeFileSync("/proc/self/autogroup", String(autogroupTarget));
    autogroupNiceness = autogroupTarget;
  } catch (error) {
    const mayRetry = error instanceof Error && "code" in error && error.code === "EAGAIN";
    if (!mayRetry) autogroupNiceness = autogroupTarget;
  }
}

/** Makes Linux end this process before others when memory runs out. */
export function preferForOomKill() {
  attempt(() => writeFileSync("/proc/self/oom_score_adj", "1000"));
}

/** @template T @param {() => T} act @returns {T | undefined} */
function attempt(act) {
  try {
    return act();
  } catch {
    return undefined; // not supported by this system, or not permitted
  }
}
