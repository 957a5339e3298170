import { Worker } from "node:worker_threads";
import { describeThrown } from "./transformFault.mjs";
import { OUT_OF_MEMORY, writeFrame } from "./transformFrames.mjs";
import { lowerAutogroup, lowerPriority, preferForOomKill } from "./transformPriority.mjs";

// The process around a transform's thread. It starts the thread, passes requests on, and ends itself when the thread ends
// or uses too much memory, or when the service has ended. It stays responsive whatever the transform does.

const MIB = 1024 * 1024;

/** Memory that the process may use beyond the limit: young objects, compiled code, Node's own buffers. */
const SPARE_BYTES = 64 * MIB;

/** Niceness after the start. The start itself has normal priority, so that it is quick on a machine busy with transforms. */
const NICENESS = 10;

/** CPU time of one run after which the process gets the lowest priority. */
const LOWEST_PRIORITY_CPU_US = 1_000_000;
const LOWEST_NICENESS = 19;

/** Intervals of the checks of memory and CPU time while a job runs, and while none does. */
const CHECK_MS = 20;
const IDLE_CHECK_MS = 1_000;

const [dir = "", path = ""] = process.argv.slice(2);
const maxMemoryMiB = Number(process.argv[4]);

preferForOomKill();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {}); // the service ends this process itself
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));

const thread = new Worker(new URL("./transformThread.mjs", import.meta.url), {
  workerData: { path, dir },
  resourceLimits: { maxOldGenerationSizeMb: maxMemoryMiB },
});
/** @type {string | undefined} */
let fault;
thread.once("error", (error) => {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") endForMemory();
  fault = `was ended by an uncaught error: ${describeThrown(error, dir)}`;
});
thread.once("exit", (code) => {
  writeFrame({ type: "died", fault: fault ?? `ended its own thread with exit code ${code}` });
  process.exit(1);
});
thread.once("online", () => {
  lowerPriority(NICENESS);
  const maxBytes = process.memoryUsage.rss() + maxMemoryMiB * MIB + SPARE_BYTES;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  process.on("message", (job) => {
    clearInterval(timer);
    timer = setInterval(checkUsage, CHECK_MS, maxBytes, process.cpuUsage());
    thread.postMessage(job);
  });
  thread.on("message", () => {
    clearInterval(timer);
    timer = setInterval(checkUsage, IDLE_CHECK_MS, maxBytes, process.cpuUsage());
  });
});

let hasLowestPriority = false;

/** @param {number} maxBytes @param {NodeJS.CpuUsage} cpuBefore */
function checkUsage(maxBytes, cpuBefore) {
  if (process.memoryUsage.rss() > maxBytes) endForMemory();
  thread.getHeapStatistics().then(
    ({ external_memory }) => external_memory > maxMemoryMiB * MIB && endForMemory(),
    () => {}, // the thread has ended
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  if (user + system > LOWEST_PRIORITY_CPU_US && !hasLowestPriority) {
    hasLowestPriority = true;
    lowerPriority(LOWEST_NICENESS);
    process.send?.("lowest-priority");
  }
  lowerAutogroup();
}

function endForMemory() {
  process.kill(process.pid, OUT_OF_MEMORY);
}
