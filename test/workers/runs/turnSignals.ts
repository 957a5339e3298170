import { setImmediate } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { parentPort } from "node:worker_threads";
import type { AgentReply } from "../../../src/agents/runners/runner.ts";
import { runTurn } from "../../../src/workers/runs/turn.ts";

/**
 * Runs turns on its own thread, in whose small heap no other code creates signals, and posts by how much the number of
 * AbortSignals grew: after turns that add no listener, and after turns that leave one, as OpenAI's client does.
 */
const never = new AbortController().signal;

/** Counts the signals that remain after a garbage collection. */
async function countSignals(): Promise<number> {
  await setImmediate();
  return Number(queryObjects(AbortSignal, { format: "count" }));
}

async function countLeft(work: (signal: AbortSignal) => Promise<AgentReply>, stopping: AbortSignal): Promise<number> {
  const bounds = { timeoutMs: 600_000, lost: never, stopping };
  await runTurn(work, bounds);
  const before = await countSignals();
  for (let turn = 0; turn < 200; turn++) await runTurn(work, bounds);
  return (await countSignals()) - before;
}

const asksNothing = await countLeft(async () => ({ text: "done" }), never);
const listens = await countLeft(async (signal) => {
  signal.addEventListener("abort", () => {}, { once: true });
  return { text: "done" };
}, new AbortController().signal);
parentPort?.postMessage({ asksNothing, listens });
