import { appendFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { closeBrowser } from "../browser.ts";
import { eventually } from "../eventually.ts";
import { RUNS, SEED } from "../random.ts";
import { stopServers } from "../servers/servers.ts";

fc.configureGlobal({ seed: SEED, numRuns: RUNS });

/** Maximum time for the resources of a file to close, as long as a busy machine may need. */
const CLOSES_WITHIN_MS = 60_000;

/** The process runs several files. This hook runs once per file; shared resources stay open. */
const isLane = process.env.MOCHA_WORKER_ID !== undefined;
const ownResources = countResources();
let began = 0;

/** Counts the resources that keep the process alive, by kind. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/**
 * Returns the kinds with more open resources than before the first file, without mocha's timer for the running hook.
 */
const leftOpen = (): string[] =>
  [...countResources()].flatMap(([kind, count]) => {
    const more = count - (ownResources.get(kind) ?? 0) - (kind === "Timeout" ? 1 : 0);
    return kind !== "Immediate" && more > 0 ? [`${more} ${kind}`] : [];
  });

export const mochaHooks = {
  beforeAll(): void {
    began = performance.now();
  },

  /** Fails if the tests left resources open, which would disturb later tests or keep the process alive. */
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(2 * CLOSES_WITHIN_MS);
    const file = this.test?.parent?.suites[0]?.file;
    const { SIGNALBOX_TEST_TIMES } = process.env;
    if (SIGNALBOX_TEST_TIMES && file) {
      const ms = Math.round(performance.now() - began);
      appendFileSync(SIGNALBOX_TEST_TIMES, `${JSON.stringify({ file, ms })}\n`);
    }
    await closeBrowser();
    if (!isLane) await stopServers();
    let open: string[] = [];
    const isClosed = async () => {
      await setImmediate(); // A timer that has just fired is still counted.
      open = leftOpen();
      return open.length === 0;
    };
    await eventually(isClosed, "everything to be closed", CLOSES_WITHIN_MS).catch(() => {
      for (const [kind, count] of countResources()) ownResources.set(kind, count); // Later files must not fail for it.
      throw new Error(`A test left something open: ${open.join(", ")}`);
    });
  },
};
