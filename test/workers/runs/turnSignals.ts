import { setImmediate } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { parentPort } from "node:worker_threads";
import { boundTurn } from "../../../src/workers/runs/turn.ts";

/**
 * Runs turns on a thread of its own, in whose small heap nobody else makes signals, and tells how many AbortSignals there
 * are more than before: after turns that ask nothing, and after turns that leave a listener, as OpenAI's client does.
 */
const never = new AbortController().signal;

/** Those that a collection leaves, once nothing is under way that holds them. */
async function countSignals(): Promise<number> {
  await setImmediate();
  return Number(queryObjects(AbortSignal, { format: "count" }));
}

async function countLeft(work: (signal: AbortSignal) => Promise<string>, stopping: AbortSignal): Promise<number> {
  const bounds = { timeoutMs: 600_000, lost: never, stopping };
  await boundTurn(work, bounds);
  const before = await countSignals();
  for (let turn = 0; turn < 200; turn++) await boundTurn(work, bounds);
  return (await countSignals()) - before;
}

const asksNothing = await countLeft(async () => "done", never);
const listens = await countLeft(async (signal) => {
  signal.addEventListener("abort", () => {}, { once: true });
  return "done";
}, new AbortController().signal);
parentPort?.postMessage({ asksNothing, listens });
