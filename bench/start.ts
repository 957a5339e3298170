import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../test/support/eventually.ts";
import { agentHookBody, postHook } from "./hooks.ts";
import { quantile } from "./quantile.ts";
import type { Ours } from "./services.ts";

const WARM_UP_RUNS = 20;
const POLL_AFTER_MS = 30;

/** Milliseconds from the response to an agent hook to the start of its run. */
export interface StartTimes {
  readonly runs: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Posts one run after another to an idle worker, each once the previous one is finalized. Assumes that the worker and
 * this process share a clock.
 */
export async function measureStarts(ours: Ours, runs: number, warmUpRuns = WARM_UP_RUNS): Promise<StartTimes> {
  await ours.clear();
  for (let run = 0; run < warmUpRuns; run++) await startOne(ours);
  const times: number[] = [];
  for (let run = 0; run < runs; run++) times.push(await startOne(ours));
  times.sort((a, b) => a - b);
  return { runs, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

async function startOne(ours: Ours): Promise<number> {
  const { name, runs } = ours;
  const body = agentHookBody("next-heartbeat"); // With `now` a turn of the main session would overlap the next run.
  const { runId, answeredAt } = await postHook(ours, "/hooks/agent", body);
  await pause(POLL_AFTER_MS); // A poll during the start would delay it.
  const run = await eventually(() => runs.findOne({ _id: runId, settled: true }), `the end of run ${runId}`);
  if (run.status !== "completed" || !run.startedAt) throw new Error(`${name}: run ${runId} ${run.status}`);
  return run.startedAt.getTime() - answeredAt;
}
