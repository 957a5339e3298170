import { readFileSync } from "node:fs";
import { eventually } from "../test/support/eventually.ts";
import type { Child } from "./child.ts";
import { hookPaths, postHook } from "./hooks.ts";
import { ask } from "./measure.ts";
import { median, medians } from "./quantile.ts";
import type { Ours } from "./services.ts";

const HANGING = 20;
/** One module gets half of the threads. */
const AT_ONCE = 16;
const CONNECTIONS = 10;
const TURNS = 3;
const OTHERS = 10;

/** Milliseconds; medians of the turns. */
export interface Disturbance {
  /** p99 of a read. */
  readonly read: number;
  /** From the 202 of a hook with another transform to the start of its run, p50. */
  readonly other: number;
}

/** What others notice of an endless transform: first with nothing of the kind, then while 20 of its runs hang. */
export async function measureHanging(
  load: Child<true>,
  ours: Ours,
  seconds: number,
): Promise<{ readonly quiet: Disturbance; readonly hanging: Disturbance }> {
  const turns = seconds < 1 ? 1 : TURNS;
  const quiet: Disturbance[] = [];
  const hanging: Disturbance[] = [];
  await others(ours); // the thread is warm
  for (let turn = 0; turn < turns; turn++) {
    quiet.push(await look(load, ours, seconds));
    const begunBefore = begun(ours);
    const posted = await Promise.all(Array.from({ length: HANGING }, () => postHook(ours, hookPaths.endless, "{}")));
    await eventually(() => begun(ours) - begunBefore >= AT_ONCE, "the transforms to hang", 60_000);
    hanging.push(await look(load, ours, seconds));
    const over = { _id: { $in: posted.map(({ runId }) => runId) }, status: "failed" as const };
    await eventually(async () => (await ours.runs.countDocuments(over)) === HANGING, "their time-outs", 120_000);
  }
  return { quiet: medians(quiet, ["read", "other"]), hanging: medians(hanging, ["read", "other"]) };
}

async function look(load: Child<true>, ours: Ours, seconds: number): Promise<Disturbance> {
  const other = await others(ours);
  const { p99: read } = await ask(load, ours, { work: "read", connections: CONNECTIONS, seconds });
  return { read, other };
}

/** One after another. */
async function others(ours: Ours): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < OTHERS; i++) {
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

/** How many runs of the endless transform have begun so far. */
function begun({ config }: Ours): number {
  try {
    return readFileSync(config.begun, "utf8").length;
  } catch {
    return 0;
  }
}
