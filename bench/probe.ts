/** Preloaded into a process to report the resources that it holds, on request. Needs `--expose-gc`. */
import { existsSync, readdirSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

/** The resources of a process after a garbage collection; memory in bytes. */
export interface Holding {
  readonly heap: number;
  /** Memory outside the heap, including buffers. */
  readonly external: number;
  readonly resident: number;
  /** Sockets, pipes, requests and other active resources, without timers. */
  readonly handles: number;
  readonly timers: number;
  /** Open file descriptors; 0 if the system does not report them. */
  readonly descriptors: number;
  /** Listeners of `process`. */
  readonly listeners: number;
}

export const ASK = "bench:holding";

const FILES = "/proc/self/fd";
const ROUNDS = 2;

async function holding(): Promise<Holding> {
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc?.({ type: "major", execution: "sync" });
    await turn(); // Finalizers run in between.
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
