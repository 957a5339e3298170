/**
 * `npm run bench`: compares Signalbox with a plain service, in turns, in one run on one machine, on both kinds of MongoDB. See
 * README.md for the rows. Exits with 1 when a status is not 2xx.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { bin, keepDataOnDisk } from "../test/support/servers/servers.ts";
import { type Figures, measureRow, measureRuns, storeJobs } from "./measure.ts";
import { type BenchOptions, benchOptions } from "./options.ts";
import { startChild, startPair } from "./services.ts";
import { KINDS, type Kind, type WorkName, works } from "./works.ts";

/** Longer than two rounds of the processes' periodic tasks. */
const IDLE_MS = 25_000;
const WAITING_RUNS = 1_000;
const LOAD = new URL("./load.ts", import.meta.url);
const RESULTS = join(import.meta.dirname, "results");
const COLUMNS = [22, 12, 12, 14, 14, 16, 16];

/** The lines of the result. */
const printed: string[] = [];
let lifecycle = new Lifecycle();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, async () => {
    await lifecycle.close();
    process.exit(code);
  });
}

try {
  await bench(benchOptions(process.argv.slice(2)));
} catch (error) {
  console.error(`The bench failed: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function bench(options: BenchOptions): Promise<void> {
  keepDataOnDisk(); // Journaled writes cost less in memory.
  const { turns, seconds } = options;
  print(
    `${machine()}, mongod ${version(bin("mongod"), "--version")}, commit ${version("git", "describe", "--always", "--dirty")}`,
  );
  print(`Each write is journaled. Medians of ${turns} turns of ${seconds} s, at 10 / 100 connections.`);
  for (const kind of options.kinds) await benchKind(kind, options);
  if (options.save) writeFileSync(resultFile(), `${printed.join("\n")}\n`);
}

async function benchKind(kind: Kind, { works: names, beside, quick, ...turns }: BenchOptions): Promise<void> {
  lifecycle = new Lifecycle();
  try {
    const services = await startPair(lifecycle, kind, beside);
    const [ours, other] = services;
    const load = await startChild(lifecycle, LOAD);
    await Promise.all(services.map((service) => storeJobs(service, turns.jobs)));
    print(`\n${headLines(kind, other.name)}`);
    for (const work of names) print(rowLine(kind, work, await measureRow(load, services, work, turns)));
    const webMiB = ours.web.residentMiB();
    const { perSecond, worker } = await measureRuns(ours, quick ? WAITING_RUNS / 10 : WAITING_RUNS);
    const workerMiB = worker.residentMiB();
    await pause(quick ? 0 : IDLE_MS);
    print(`one worker completes ${perSecond.toFixed(0)} runs of the echo runner in a second`);
    print(memoryLine("web", webMiB, ours.web.residentMiB()));
    print(memoryLine("worker", workerMiB, worker.residentMiB()));
  } finally {
    await lifecycle.close((name, error) => console.error(`${name} did not close well`, error));
  }
}

function print(text: string): void {
  printed.push(text);
  console.log(text);
}

function memoryLine(name: string, loadedMiB: number, idleMiB: number): string {
  return `${name} process: ${loadedMiB.toFixed(0)} MiB after the load, ${idleMiB.toFixed(0)} MiB when idle; goal <=200`;
}

function line(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(COLUMNS[i]!) : cell.padStart(COLUMNS[i]!))).join("");
}

function headLines(kind: Kind, other: string): string {
  return [
    line([KINDS[kind], "signalbox", "", "requests/s", "", "p99 in ms", ""]),
    line(["", `/ ${other}`, "goal", "signalbox", other, "signalbox", other]),
  ].join("\n");
}

/** Returns a row: its ratios of requests a second with their goals, and both figures of each service. */
function rowLine(kind: Kind, work: WorkName, figures: readonly Figures[]): string {
  const both = (value: (figures: Figures) => number, digits = 0) =>
    figures.map((one) => value(one).toFixed(digits)).join(" / ");
  return line([
    works[work].title,
    both(({ ratio }) => ratio, 2),
    works[work].goals[kind].join(" / "),
    both(({ ours }) => ours.perSecond),
    both(({ other }) => other.perSecond),
    both(({ ours }) => ours.p99, 1),
    both(({ other }) => other.p99, 1),
  ]);
}

/** Describes the machine without host names and paths, so that results may be published. */
function machine(): string {
  return `${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), node ${process.version}`;
}

/** Returns the name of the result, by day and machine. It replaces an earlier one. */
function resultFile(): string {
  const model = (cpus()[0]?.model ?? "unknown").replace(/[^\w.]+/g, "-").replace(/^-|-$/g, "");
  return join(RESULTS, `${new Date().toISOString().slice(0, 10)}-${availableParallelism()}x${model}.txt`);
}

/** Returns the version in the first line of a program's output. */
function version(program: string, ...args: string[]): string {
  try {
    const output = execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return output.split("\n", 1)[0]!.replace(/^.* version v?/, "");
  } catch {
    return "unknown";
  }
}
