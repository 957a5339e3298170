/**
 * `npm run bench`: compares Signalbox with a naive service in one run on one machine. See options.ts for the command
 * line. Exits with 1 when a status is not 2xx.
 */
import { basename } from "node:path";
import { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { keepDataOnDisk, SHARED, stopServers } from "../test/support/servers/servers.ts";
import { measureAttacks, startAttacked } from "./attack.ts";
import type { CallFigures } from "./calls.ts";
import type { Child } from "./child.ts";
import { measureCpu } from "./cpu.ts";
import { measureEcho } from "./echo.ts";
import { measureFootprints } from "./footprint.ts";
import { measureHanging } from "./hang.ts";
import { measureHeavy } from "./heavy.ts";
import { fill } from "./jobs.ts";
import { measureLarge } from "./large.ts";
import { judgeLeak, type LeakRow, measureLeak } from "./leak.ts";
import { measure, type Row, warmUp } from "./measure.ts";
import { startMixed } from "./mixed.ts";
import { type BenchOptions, benchOptions, USAGE } from "./options.ts";
import { measureOwn, type OwnFigures } from "./own.ts";
import * as print from "./print.ts";
import * as printAttack from "./printAttack.ts";
import * as printLeak from "./printLeak.ts";
import * as printSoak from "./printSoak.ts";
import { measureProcesses } from "./processes.ts";
import { makeResult, saveResult } from "./results.ts";
import { selfTest } from "./selfTest.ts";
import { type Ours, startLoad, startPair, startServices } from "./services.ts";
import { judgeSoak, type SoakRow, startSoak } from "./soak.ts";
import { measureStarts } from "./start.ts";
import { measureStreams } from "./streams.ts";
import { MAX_TOKEN_US, measureTokens } from "./tokens.ts";
import { MAX_RATIO, measureWaiting } from "./waiting.ts";
import type { WorkName } from "./works.ts";

const lifecycle = new Lifecycle();
delete process.env[SHARED.redis]; // The bench empties its Redis, so it must not be shared.
keepDataOnDisk(); // Journaled writes cost less in memory.
/** The share of the full attack in a short run. */
const QUICK_SHARE = 0.02;
const MIN_CONCLUSIVE_MINUTES = 10;
/** Values of `worker.concurrency`: one for model servers with many parallel requests, and the default. */
const [MANY, BY_DEFAULT] = [200, 10];
/** Longer than two of the processes' periodic tasks, which run every ten seconds. */
const IDLE_MS = 25_000;
process.stderr.setMaxListeners(50); // Every process of the bench is piped to it.
lifecycle.onClose("servers", stopServers);
let stopping = false;

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, async () => {
    stopping = true;
    await lifecycle.close();
    process.exit(code);
  });
}

try {
  const options = benchOptions(process.argv.slice(2), process.env);
  if (options.selftest) console.log(JSON.stringify(await selfTest(lifecycle)));
  else if (options.large > 0) await compareLarge(options);
  else if (options.leak > 0) await lookForLeaks(options);
  else if (options.cpu) await cpu(options);
  else if (options.streams) await streams(options);
  else if (options.waiting) await waiting(options);
  else if (options.tokens) tokens(options);
  else if (options.attack) await attack(options);
  else if (options.soak > 0) await soak(options);
  else await bench(options);
} catch (error) {
  if (!stopping) console.error(`The bench failed: ${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 1;
}
await lifecycle.close((name, error) => console.error(`${name} did not close well`, error));

async function bench(options: BenchOptions): Promise<void> {
  const { seconds, turns, only } = options;
  console.log(`${print.facts(turns, seconds)}\n`);
  const [services, load] = await startMeasured(seconds, only?.works);
  const [ours] = services;
  const rows: Row[] = [];
  if (only?.works.length !== 0) console.log(print.head(services));
  for await (const row of measure(load, services, { turns, seconds }, only?.works)) {
    rows.push(row);
    console.log(print.row(row));
  }
  const own: OwnFigures[] = [];
  if (only?.own.length !== 0) console.log(`\n${print.ownHead}`);
  for await (const row of measureOwn(load, ours, { turns, seconds }, only?.own)) {
    own.push(row);
    console.log(print.own(row));
  }
  const more = only ? {} : await measureMore(load, ours, options);
  if (options.save) console.log(`\nSaved as ${basename(saveResult(makeResult(options, { rows, own, more })))}`);
  if (!only) console.log(`\n${print.MEASURED_ELSEWHERE}`);
}

/** Runs and prints the measurements below the tables. */
async function measureMore(load: Child<true>, ours: Ours, { seconds, turns, quick }: BenchOptions) {
  const [one, two] = [await ours.startWeb(), await ours.startWeb({ WEB_CONCURRENCY: "2" })];
  const processes = await measureProcesses(load, [one, two], { turns, seconds });
  console.log(`\n${print.processes(processes)}`);
  await Promise.all([one.stop(), two.stop()]);
  const { figures: echo, worker } = await measureEcho(
    ours,
    quick
      ? { turns: 1, waiting: 100, concurrencies: [BY_DEFAULT] }
      : { turns: 3, waiting: 1_000, concurrencies: [MANY, BY_DEFAULT] },
  );
  for (const one of echo) console.log(`\n${print.echo(one)}`);
  const measuredProcesses = { "web process": ours.web, "worker process": worker };
  const footprints = await measureFootprints(measuredProcesses, quick ? 0 : IDLE_MS);
  console.log(`\n${print.footprints(footprints)}`);
  const starts = await measureStarts(ours, quick ? 20 : 200);
  console.log(`\n${print.starts(starts)}`);
  const streams = await measureStreams(load, ours, seconds);
  console.log(`\n${print.streams(streams)}`);
  const hanging = await measureHanging(load, ours, seconds);
  console.log(`\n${print.hanging(hanging)}`);
  console.log(`\n${print.heavyHead}`);
  const sizes = quick ? { steps: 200, outputs: 2, times: 10 } : { steps: 10_000, outputs: 20, times: 200 };
  const heavy: CallFigures[] = [];
  for await (const call of measureHeavy(await startPair(lifecycle), sizes)) {
    heavy.push(call);
    console.log(print.call(call));
  }
  return { processes, echo, footprints, starts, streams, hanging, heavy };
}

/** Starts, fills and warms up both services, and starts the load. */
async function startMeasured(seconds: number, names?: readonly WorkName[]) {
  const services = await startServices(lifecycle, 2 + 2 * seconds);
  const load = await startLoad(lifecycle);
  await Promise.all(services.map((service) => fill(service)));
  await warmUp(load, services, seconds, names);
  return [services, load] as const;
}

async function compareLarge({ large: jobs, quick }: BenchOptions): Promise<void> {
  console.log(print.largeHead(jobs));
  const pair = await startPair(lifecycle);
  for await (const call of measureLarge(pair, { jobs, calls: quick ? 20 : 200 })) console.log(print.call(call));
}

async function cpu({ seconds, turns }: BenchOptions): Promise<void> {
  console.log(`${print.facts(turns, seconds)}\n`);
  const [services, load] = await startMeasured(seconds);
  console.log(print.cpuHead);
  for await (const row of measureCpu(load, services, { turns, seconds })) console.log(print.cpu(row));
}

async function streams({ seconds }: BenchOptions): Promise<void> {
  const [[ours], load] = await startMeasured(seconds, ["report"]);
  console.log(print.streams(await measureStreams(load, ours, seconds)));
}

async function waiting({ seconds, turns, quick }: BenchOptions): Promise<void> {
  const [[ours], load] = await startMeasured(seconds, ["report", "read"]);
  const figures = await measureWaiting(load, ours, { turns, seconds });
  console.log(print.waiting(figures));
  if (!quick && figures.some(({ ratio }) => ratio > MAX_RATIO)) process.exitCode = 1;
}

function tokens({ turns }: BenchOptions): void {
  const figures = measureTokens(turns);
  for (const { configured, given, us } of figures)
    console.log(`${configured} tokens, ${given}: ${us.toFixed(1)} µs a request`);
  if (figures.some(({ us }) => us > MAX_TOKEN_US)) process.exitCode = 1;
}

async function attack({ seconds, turns, quick }: BenchOptions): Promise<void> {
  const load = await startLoad(lifecycle);
  const web = await startAttacked(lifecycle, load, seconds);
  const share = quick ? QUICK_SHARE : 1;
  console.log(`${printAttack.facts(turns, seconds)}\n\n${printAttack.head}`);
  for await (const row of measureAttacks(lifecycle, load, web, { turns, seconds, share }))
    console.log(printAttack.row(row));
}

async function lookForLeaks({ leak, seed }: BenchOptions): Promise<void> {
  console.log(`${printLeak.facts(leak, seed)}\n\n${printLeak.head}`);
  const system = await startMixed(lifecycle, { workers: 1, mix: "leak", seed });
  const rows: LeakRow[] = [];
  for await (const row of measureLeak(system, leak)) {
    rows.push(row);
    console.log(printLeak.rows(row));
  }
  const verdicts = judgeLeak(rows);
  console.log(`\n${printLeak.verdict(verdicts)}`);
  if (verdicts.some(({ leaks }) => leaks) || rows.some(({ errors }) => errors > 0)) process.exitCode = 1;
}

async function soak(options: BenchOptions): Promise<void> {
  const system = await startMixed(lifecycle, { workers: 2, mix: "soak", seed: options.seed });
  const { rows: measured, finish } = startSoak(system, options);
  console.log(`${printSoak.facts(options)}\n\n${printSoak.head}`);
  const rows: SoakRow[] = [];
  for await (const row of measured()) {
    rows.push(row);
    console.log(printSoak.row(row));
  }
  const { last, undone } = await finish();
  console.log(`\n${printSoak.verdict(rows, last, undone)}`);
  const isShort = options.soak < MIN_CONCLUSIVE_MINUTES;
  if (isShort) console.log("Too short to tell of memory and latency.");
  const { memory, p99 } = judgeSoak(rows);
  const isFlat = isShort || (p99.isFlat && !memory.some(({ grows }) => grows));
  if (!isFlat || undone.length > 0 || rows.some(({ load }) => load.errors > 0)) process.exitCode = 1;
}
