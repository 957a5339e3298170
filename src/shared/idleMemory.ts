import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const LOOK_EVERY_MS = 10_000;
/** The share of the time in which the event loop has work. */
const IDLE_BELOW = 0.01;
/** So much more resident memory than was left the last time is worth another collection, which takes some 50 ms. */
const GROWN_BY = 1.1;

/**
 * Gives memory that load has left behind back to the system once the process has little to do: V8 alone keeps it until it
 * needs it itself, and would be slower under load if it were told to keep less; the C library keeps what lies between
 * allocations that live. Ends nothing and keeps nothing alive.
 */
export function returnIdleMemory({ lookEveryMs = LOOK_EVERY_MS } = {}): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  let before = performance.eventLoopUtilization();
  let left = 0;
  let trim: (() => void) | undefined;
  const look = async () => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > IDLE_BELOW || process.memoryUsage.rss() < left * GROWN_BY) return;
    collect({ type: "major", flavor: "last-resort" });
    trim ??= await loadTrim();
    trim();
    left = process.memoryUsage.rss();
  };
  setInterval(look, lookEveryMs).unref();
}

/** malloc_trim(3) of glibc, which Node has no call for; does nothing with another C library, or where koffi is not installed. */
async function loadTrim(): Promise<() => void> {
  try {
    const { load } = await import("koffi");
    const trim = load("libc.so.6").func("int malloc_trim(size_t pad)");
    return () => trim(0);
  } catch {
    return () => {};
  }
}
