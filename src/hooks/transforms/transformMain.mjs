import { Worker } from "node:worker_threads";
import { describeFault } from "./transformFault.mjs";
import { OUT_OF_MEMORY, writeFrame } from "./transformFrames.mjs";
import { goFirst, lowerPriority, lowerSession } from "./transformPriority.mjs";

// The process around a transform's thread. It starts the thread, hands requests on, and ends the whole when the thread
// ends, holds too much memory, or when the service is gone. It must stay responsive whatever the transform does.

const MIB = 1024 * 1024;

/** What the process may take beyond the limit: young objects, compiled code, buffers of Node's own. */
const SPARE_BYTES = 64 * MIB;

/** Once the thread is up: starting shall be quick, however many transforms keep the machine busy. */
const NICENESS = 10;

/** After so much processor time in one run it gives way to all others. */
const WORN_CPU_US = 1_000_000;
const WORN_NICENESS = 19;

const WATCH_MS = 20;
const WATCH_IDLE_MS = 1_000;

const [dir = "", path = ""] = process.argv.slice(2);
const maxMemoryMiB = Number(process.argv[4]);

goFirst();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {}); // the service says when it is over
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));

const thread = new Worker(new URL("./transformThread.mjs", import.meta.url), {
  workerData: { path, dir },
  resourceLimits: { maxOldGenerationSizeMb: maxMemoryMiB },
});
/** @type {string | undefined} */
let fault;
thread.once("error", (error) => {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") endForMemory();
  fault = `was ended by what nothing caught: ${describeFault(error, dir)}`;
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
    timer = setInterval(watch, WATCH_MS, maxBytes, process.cpuUsage());
    thread.postMessage(job);
  });
  thread.on("message", () => {
    clearInterval(timer);
    timer = setInterval(watch, WATCH_IDLE_MS, maxBytes, process.cpuUsage());
  });
});

let worn = false;

/** @param {number} maxBytes @param {NodeJS.CpuUsage} cpuBefore */
function watch(maxBytes, cpuBefore) {
  if (process.memoryUsage.rss() > maxBytes) endForMemory();
  thread.getHeapStatistics().then(
    ({ external_memory }) => external_memory > maxMemoryMiB * MIB && endForMemory(),
    () => {}, // it is gone
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  if (user + system > WORN_CPU_US && !worn) {
    worn = true;
    lowerPriority(WORN_NICENESS);
    process.send?.("worn");
  }
  lowerSession();
}

function endForMemory() {
  process.kill(process.pid, OUT_OF_MEMORY);
}
