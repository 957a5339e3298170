import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../test/support/eventually.ts";
import { agentHookBody, HOOK_HEADERS } from "./hooks.ts";
import { quantile } from "./quantile.ts";
import type { Ours } from "./services.ts";

const WARM_UP_RUNS = 20;
const LOOKS_AFTER_MS = 30;

/** Milliseconds from the answer to an agent hook to the start of its run. */
export interface StartTimes {
  readonly runs: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Posts one run after another to the worker, which has nothing else to do: each when all that follows from the one before is
 * written. The worker's clock is this process's.
 */
export async function measureStarts(ours: Ours, runs: number): Promise<StartTimes> {
  await ours.clear();
  for (let run = 0; run < WARM_UP_RUNS; run++) await startOne(ours);
  const times: number[] = [];
  for (let run = 0; run < runs; run++) times.push(await startOne(ours));
  times.sort((a, b) => a - b);
  return { runs, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

async function startOne({ name, url, runs }: Ours): Promise<number> {
  const body = agentHookBody("next-heartbeat"); // with `now` the main session's turn would meet the next run
  const response = await fetch(`${url}/hooks/agent`, { method: "POST", headers: HOOK_HEADERS, body });
  const answeredAt = Date.now();
  const text = await response.text();
  if (response.status !== 202) throw new Error(`${name} answered a hook with ${response.status}: ${text}`);
  const { runId } = JSON.parse(text) as { runId: string };
  await pause(LOOKS_AFTER_MS); // a look while it starts would be in its way
  const run = await eventually(() => runs.findOne({ _id: runId, settled: true }), `the end of run ${runId}`);
  if (run.status !== "completed" || !run.startedAt) throw new Error(`${name}: run ${runId} ${run.status}`);
  return run.startedAt.getTime() - answeredAt;
}
