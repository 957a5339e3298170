/** Loaded into a process before anything of its own: says what that process holds, when it is asked. Needs `--expose-gc`. */
import { existsSync, readdirSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

/** What a process holds once all that it no longer needs has been collected; memory in bytes. */
export interface Holding {
  readonly heap: number;
  /** Beside the heap, with the buffers. */
  readonly external: number;
  readonly resident: number;
  /** Sockets, pipes, requests and whatever else keeps an event loop busy; timers apart. */
  readonly handles: number;
  readonly timers: number;
  /** Open files and sockets of the system; 0 where it does not say. */
  readonly descriptors: number;
  /** Of `process`. */
  readonly listeners: number;
}

export const ASK = "bench:holding";

const FILES = "/proc/self/fd";
const ROUNDS = 2;

async function holding(): Promise<Holding> {
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc?.({ type: "major", execution: "sync" });
    await turn(); // finalizers run between
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const timers = resources.filter((name) => name === "Timeout" || name === "Immediate").length;
  return {
    ...{ heap: heapUsed, external, resident: rss, timers, handles: resources.length - timers },
    descriptors: existsSync(FILES) ? readdirSync(FILES).length : 0,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

process.on("message", async (message) => {
  if (message === ASK) process.send?.({ holding: await holding() });
});
