import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { type AttackRow, addLargeJob, measureAttacks } from "./attack.ts";
import type { CallFigures } from "./calls.ts";
import type { Child } from "./child.ts";
import { type CpuFigures, measureCpu } from "./cpu.ts";
import { measureEcho } from "./echo.ts";
import { measureFootprints } from "./footprint.ts";
import { measureHanging } from "./hang.ts";
import { measureHeavy } from "./heavy.ts";
import { fill, JOB_IDS } from "./jobs.ts";
import { measureLarge } from "./large.ts";
import { judgeLeak, type LeakRow, type LeakVerdict, measureLeak } from "./leak.ts";
import { LEAK } from "./leaking.ts";
import { measure, type Row } from "./measure.ts";
import { type MixedSystem, startMixed } from "./mixed.ts";
import { measureOwn, type OwnFigures } from "./own.ts";
import { measureProcesses } from "./processes.ts";
import { makeResult } from "./results.ts";
import { type Naive, type Ours, PROBED, type Side, startLoad, startServices } from "./services.ts";
import { judgeSoak, type SoakRow, type SoakVerdict, startSoak } from "./soak.ts";
import { measureStarts } from "./start.ts";
import { measureStreams } from "./streams.ts";
import { measureWaiting } from "./waiting.ts";
import type { WorkName } from "./works.ts";

/** The maximum number of connections, each of which works on a job of its own. */
const JOBS = 100;
const TURNS = { turns: 1, seconds: 0.005 };
/** One work of whole lives and one of single requests; others would only take longer. */
export const CPU_WORKS = ["pipeline", "report"] as const;
const LEAK_REQUESTS = 300;
const LEAK_ON_PURPOSE_REQUESTS = 100;
const SOAK = { soak: 0.01, rate: 50 };
const SOAK_ROWS = 5;

/** The result of each measurement. */
export interface SelfTest {
  readonly compare: Awaited<ReturnType<typeof compare>>;
  readonly cpu: readonly { readonly work: WorkName; readonly figures: readonly CpuFigures[] }[];
  readonly attack: readonly AttackRow[];
  readonly large: readonly CallFigures[];
  readonly leak: LeakOutcome;
  readonly leakOnPurpose: LeakOutcome;
  readonly soak: {
    readonly rows: readonly SoakRow[];
    readonly undone: readonly string[];
    readonly accepted: Readonly<Record<"runs" | "wakes" | "deliveries" | "jobs", number>>;
    readonly verdict: SoakVerdict;
  };
}

interface LeakOutcome {
  readonly rows: readonly LeakRow[];
  readonly verdicts: readonly LeakVerdict[];
}

/**
 * Runs every measurement of the bench briefly, on services that are started once. Tests the bench; the figures mean
 * nothing.
 */
export async function selfTest(lifecycle: Lifecycle): Promise<SelfTest> {
  const [ours, naive] = await startServices(lifecycle, 1, PROBED);
  const load = await startLoad(lifecycle, JOBS);
  await Promise.all([ours, naive].map((service) => fill(service, JOB_IDS.slice(0, JOBS))));
  const leaking = ["--import", new URL("./leaking.ts", import.meta.url).href];
  const mixed = await startMixed(lifecycle, { workers: 1, mix: "soak", seed: 1 }, [...PROBED, ...leaking]);
  const pair = [mixed, { web: ours.web, database: ours.database }] as const;
  await addLargeJob(ours.web);
  // Runs first, because connections that this process opens later would be counted.
  const leaks = { leak: await lookForLeak(mixed, LEAK_REQUESTS), leakOnPurpose: await lookForLeakOnPurpose(mixed) };
  return {
    ...leaks,
    soak: await soak(mixed),
    compare: await compare(load, ours, naive, pair),
    cpu: process.platform === "linux" ? await all(measureCpu(load, [ours, naive], TURNS, CPU_WORKS)) : [],
    attack: await all(measureAttacks(lifecycle, load, ours.web, { ...TURNS, share: 0.001 })),
    large: await all(measureLarge(pair, { jobs: 20, calls: 2 })),
  };
}

async function compare(load: Child<true>, ours: Ours, naive: Naive, pair: readonly [Side, Side]) {
  const rows: Row[] = await all(measure(load, [ours, naive], TURNS));
  const own: OwnFigures[] = await all(measureOwn(load, ours, TURNS));
  const processes = await measureProcesses(load, [ours, ours], TURNS); // Starting another service would take long.
  const echo = await measureEcho(ours, { turns: 1, waiting: 20, concurrencies: [10] });
  return {
    ...{ rows, own, processes, echo: echo.figures },
    result: makeResult(TURNS, { rows, own, more: { processes } }),
    footprints: await measureFootprints({ web: ours.web, worker: echo.worker }, 0),
    starts: await measureStarts(ours, 3, 1),
    waiting: await measureWaiting(load, ours, TURNS, 20),
    streams: await measureStreams(load, ours, TURNS.seconds, { streams: 20, changes: 2 }),
    hanging: await measureHanging(load, ours, TURNS.seconds, { count: 1, atOnce: 1, others: 2 }),
    heavy: await all(measureHeavy(pair, { steps: 10, outputs: 1, times: 2 })),
  };
}

async function lookForLeak(system: MixedSystem, requests: number): Promise<LeakOutcome> {
  const rows = await all(measureLeak(system, requests, { parts: 3, connections: 10 }));
  return { rows, verdicts: judgeLeak(rows) };
}

async function lookForLeakOnPurpose(system: MixedSystem): Promise<LeakOutcome> {
  system.web.process.send(LEAK);
  const outcome = await lookForLeak(system, LEAK_ON_PURPOSE_REQUESTS);
  system.web.process.send(LEAK);
  return outcome;
}

async function soak(system: MixedSystem): Promise<SelfTest["soak"]> {
  const { rows: measured, finish } = startSoak(system, SOAK, SOAK_ROWS);
  const rows = await all(measured());
  const { last, undone } = await finish();
  const { runs, wakes, deliveries, jobs } = last.accepted;
  return { rows, undone, accepted: { runs, wakes, deliveries, jobs: jobs.length }, verdict: judgeSoak(rows) };
}

async function all<T>(figures: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of figures) list.push(one);
  return list;
}
