import { performance } from "node:perf_hooks";

/** Time between two looks at the process, for which it must have been idle. */
const INTERVAL_MS = 10_000;
/** Maximum share of that time in which an idle process runs code. */
const IDLE_SHARE = 0.1;
/** Minimum resident memory, as a multiple of that after the last release, so that an idle process is not paused again and again. */
const MIN_GROWTH = 1.2;

/**
 * Returns memory to the system whenever the process is idle. Node keeps the pages of its heap that a load has filled: a web
 * process holds 200 to 250 MiB after it, and 150 MiB after the release, which pauses the process for about 0.15 s. Only the collection of
 * V8's inspector returns pages; `gc()` and an idle process keep them.
 * @returns a function that stops it
 */
export function releaseMemoryWhenIdle(intervalMs = INTERVAL_MS): () => void {
  let seen = performance.eventLoopUtilization();
  let releasedBytes = 0;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, seen);
    seen = now;
    if (utilization > IDLE_SHARE || process.memoryUsage.rss() < MIN_GROWTH * releasedBytes) return;
    releasedBytes = Number.POSITIVE_INFINITY; // until this release has ended, and for good if it fails
    collectGarbage().then(
      () => {
        releasedBytes = process.memoryUsage.rss();
      },
      () => {},
    );
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

/** @throws Error if Node was built without its inspector */
async function collectGarbage(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
