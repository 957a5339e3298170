import { readFileSync } from "node:fs";
import { eventually } from "../test/support/eventually.ts";
import type { Child } from "./child.ts";
import { hookPaths, postHook } from "./hooks.ts";
import { ask } from "./measure.ts";
import { median, medians } from "./quantile.ts";
import type { Ours } from "./services.ts";

const CONNECTIONS = 10;
const TURNS = 3;

/**
 * Numbers of hanging requests, of those that hang at once (one module gets half of the threads), and of other requests.
 */
const LENGTH = { count: 20, atOnce: 16, others: 10 };
type Length = typeof LENGTH;

/** Latencies in milliseconds, as medians of the turns. */
export interface Disturbance {
  /** p99 of a read. */
  readonly read: number;
  /** p50 from the 202 of a hook with another transform to the start of its run. */
  readonly other: number;
}

/** Measures how an endless transform affects other requests: first without it, then while its runs hang. */
export async function measureHanging(
  load: Child<true>,
  ours: Ours,
  seconds: number,
  length: Length = LENGTH,
): Promise<{ readonly quiet: Disturbance; readonly hanging: Disturbance }> {
  const turns = seconds < 1 ? 1 : TURNS;
  const { count, atOnce } = length;
  const quiet: Disturbance[] = [];
  const hanging: Disturbance[] = [];
  await others(ours, length); // Warms the thread up.
  for (let turn = 0; turn < turns; turn++) {
    quiet.push(await measureNow(load, ours, seconds, length));
    const begunBefore = begun(ours);
    const posted = await Promise.all(Array.from({ length: count }, () => postHook(ours, hookPaths.endless, "{}")));
    await eventually(() => begun(ours) - begunBefore >= atOnce, "the transforms to hang", 60_000);
    hanging.push(await measureNow(load, ours, seconds, length));
    const over = { _id: { $in: posted.map(({ runId }) => runId) }, status: "failed" as const };
    await eventually(async () => (await ours.runs.countDocuments(over)) === count, "their time-outs", 120_000);
  }
  return { quiet: medians(quiet, ["read", "other"]), hanging: medians(hanging, ["read", "other"]) };
}

async function measureNow(load: Child<true>, ours: Ours, seconds: number, length: Length): Promise<Disturbance> {
  const other = await others(ours, length);
  const { p99: read } = await ask(load, ours, { work: "read", connections: CONNECTIONS, seconds });
  return { read, other };
}

/** Posts hooks in sequence and returns the median delay of their runs. */
async function others(ours: Ours, { others: count }: Length): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const { runId, answeredAt } = await postHook(ours, hookPaths.other, "{}");
    const run = await eventually(
      () => ours.runs.findOne({ _id: runId, settled: true }),
      `the end of run ${runId}`,
      30_000,
    );
    if (!run.startedAt) throw new Error(`run ${runId} ${run.status}: ${run.error?.message}`);
    times.push(run.startedAt.getTime() - answeredAt);
  }
  return median(times);
}

/** Returns the number of runs of the endless transform that have begun. */
function begun({ config }: Ours): number {
  try {
    return readFileSync(config.begun, "utf8").length;
  } catch {
    return 0;
  }
}
