import { Worker } from "node:worker_threads";
import { describeThrown } from "./transformFault.mjs";

// The process of transforms. It starts and ends a thread for each run, and stays responsive whatever the transforms do.

/**
 * A message from the service: starts a run, or ends its thread.
 * @typedef {{ id: number, start?: { dir: string, path: string, name: string | undefined, input: Uint8Array } }} Command
 */

/**
 * The outcome of a run. `value` is serialized. `fault` completes the sentence "The transform x …".
 * @typedef {(
 *   | { kind: "kept" | "dropped" }
 *   | { kind: "result", value: Uint8Array }
 *   | { kind: "failed", fault: string }
 * )} ThreadOutcome
 */

/**
 * A message to the service.
 *
 * - `started`: the transform's time begins.
 * - `output`: text that the transform printed; with `truncated`, further output is dropped.
 * - `ended`: the thread has ended.
 * @typedef {(
 *   | { type: "started" }
 *   | { type: "output", stream: "stdout" | "stderr", text: string, truncated: boolean }
 *   | { type: "ended", outcome: ThreadOutcome }
 * )} Report
 */

/** How often the memory outside the JavaScript heap is checked, which `resourceLimits` does not limit. */
const CHECK_MS = 20;

const maxMemoryMiB = Number(process.argv[2]);
const OUT_OF_MEMORY = `used more memory than ${maxMemoryMiB} MiB`;

/** @type {Map<number, Worker>} */
const threads = new Map();

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {}); // The service ends this process itself.
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.on("message", (/** @type {Command} */ { id, start }) => {
  if (start) startThread(id, start);
  else void threads.get(id)?.terminate();
});

/** @param {number} id @param {NonNullable<Command["start"]>} start */
function startThread(id, start) {
  const send = (/** @type {Report} */ report) => process.send?.({ id, ...report });
  const thread = new Worker(new URL("./transformThread.mjs", import.meta.url), {
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMiB },
  });
  threads.set(id, thread);
  /** @type {ThreadOutcome | undefined} */
  let outcome;
  const end = (/** @type {ThreadOutcome} */ ended) => {
    outcome ??= ended;
    void thread.terminate();
  };
  const timer = setInterval(() => {
    const check = ({ external_memory = 0 }) => {
      if (external_memory > maxMemoryMiB * 1024 * 1024) end({ kind: "failed", fault: OUT_OF_MEMORY });
    };
    thread.getHeapStatistics().then(check, () => {}); // It rejects once the thread has ended.
  }, CHECK_MS);
  thread.on("message", (message) => {
    if ("outcome" in message) end(message.outcome);
    else send(message);
  });
  thread.on("error", (error) => {
    const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    const fault = isMemory ? OUT_OF_MEMORY : `was ended by an uncaught error: ${describeThrown(error, start.dir)}`;
    end({ kind: "failed", fault });
  });
  thread.on("exit", (code) => {
    clearInterval(timer);
    threads.delete(id);
    const exited = { kind: /** @type {const} */ ("failed"), fault: `ended its own thread with exit code ${code}` };
    send({ type: "ended", outcome: outcome ?? exited });
  });
}
