/** Preloaded into a process to report its memory on request. Needs `--expose-gc`. */
import { setImmediate as turn } from "node:timers/promises";

/** The memory of a process after a garbage collection, in bytes. */
export interface Holding {
  /** The heap, and memory outside it such as buffers. */
  readonly held: number;
  readonly resident: number;
}

/** The message that asks for it. */
export const ASK = "bench:holding";
const ROUNDS = 2;

async function holding(): Promise<Holding> {
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc?.({ type: "major", execution: "sync" });
    await turn(); // Finalizers run in between.
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, resident: rss };
}

process.on("message", async (message) => {
  if (message === ASK) process.send?.({ holding: await holding() });
});
