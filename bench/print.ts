import type { CallFigures } from "./calls.ts";
import { type CpuFigures, PROCESSES } from "./cpu.ts";
import type { EchoFigures } from "./echo.ts";
import type { Footprint } from "./footprint.ts";
import type { measureHanging } from "./hang.ts";
import { STEPS_PER_JOB } from "./large.ts";
import type { Row } from "./measure.ts";
import type { OwnFigures } from "./own.ts";
import type { ProcessFigures } from "./processes.ts";
import { thisMachine } from "./results.ts";
import type { Service } from "./service.ts";
import type { StartTimes } from "./start.ts";
import type { StreamFigures } from "./streams.ts";
import { MAX_RATIO, type WaitingFigures } from "./waiting.ts";
import { type Goal, ownRows, type WorkName, works } from "./works.ts";

export function machine(): string {
  const { cores, cpu, node, mongod } = thisMachine();
  return `${cores} cores (${cpu}), node ${node}, mongod ${mongod ?? "unknown"}`;
}

/** Describes the conditions of the figures in a few lines. */
export function facts(turns: number, seconds: number): string {
  return [
    machine(),
    "One mongod (replica set of one, on disk), both services and the load share this machine. Every write is",
    "acknowledged by a majority and journaled, for both services.",
    `Median of ${turns} turns of ${seconds} s for each figure and ratio; the services take turns.`,
    "Figures are comparable only within one run.",
  ].join("\n");
}

const COLUMNS = [19, 11, 11, 8, 8, 11, 8, 8, 7, 6, 7, 6];

export function head([ours, naive]: readonly [Service, Service]): string {
  const names = ["", "", ours.name, "", "", naive.name, "", "", "", "", "p99", ""];
  const units = [
    ...["work", "connections", "requests/s", "p50 ms", "p99 ms", "requests/s", "p50 ms", "p99 ms"],
    ...["ratio", "goal", "ratio", "goal"],
  ];
  return `${line(names)}\n${line(units)}\n${line(COLUMNS.map((width) => "-".repeat(width)))}`;
}

/** The ratios are Signalbox divided by naive, for the requests per second and for the p99. */
export function row({ work, connections, figures, ratio: { rate, p99 } }: Row): string {
  const cells = figures.flatMap(({ perSecond, p50, p99 }) => [perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)]);
  const goal: Goal = works[work].goals[connections];
  const rateGoal = goal.rate === undefined ? "" : `>=${goal.rate}`;
  const p99Goal = goal.p99 === undefined ? "" : `<=${goal.p99}`;
  const ratios = [rate.toFixed(2), rateGoal, p99.toFixed(2), p99Goal];
  return line([works[work].title, String(connections), ...cells, ...ratios]);
}

export const ownHead = "Rows of ours beside each other, and beside MongoDB; they take turns like the services:";

export function own({ row, connections, figures: [first, second], ratio: { rate } }: OwnFigures): string {
  const { title, goals } = ownRows[row];
  const both = `${first!.perSecond.toFixed(0)}/s beside ${second!.perSecond.toFixed(0)}/s`;
  return `  ${title}, ${connections} connections: ${both}, ratio ${rate.toFixed(2)}, goal >=${goals[connections]}`;
}

const ratio = (one: number, other: number): string => (one / other).toFixed(2);

function line(cells: readonly string[]): string {
  return cells
    .map((cell, i) => (i === 0 ? cell.padEnd(COLUMNS[i]!) : cell.padStart(COLUMNS[i]!)))
    .join("  ")
    .trimEnd();
}

const CPU_COLUMNS = [...PROCESSES, "all"] as const;

export const cpuHead = [
  "Microseconds of the processor for one request at 100 connections, ours and naive:",
  "",
  `${"".padEnd(18)}${[...CPU_COLUMNS, ...CPU_COLUMNS, "ratio"].map((name) => name.padStart(9)).join("")}`,
].join("\n");

export function cpu({ work, figures }: { work: WorkName; figures: CpuFigures[] }): string {
  const sums = figures.map((one) => PROCESSES.reduce((sum, name) => sum + one[name], 0));
  const cells = figures.flatMap((one, i) => [...PROCESSES.map((name) => one[name]), sums[i]!]);
  const all = [...cells.map((cell) => cell.toFixed(0)), ratio(sums[1]!, sums[0]!)];
  return `${works[work].title.padEnd(18)}${all.map((cell) => cell.padStart(9)).join("")}`;
}

/** Not in the table, because the naive service has no worker. */
export function starts({ runs, p50, p99 }: StartTimes): string {
  return [
    "From the 202 of an agent hook to the start of its run, on an idle worker of ours",
    `(${runs} runs, one after another): p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
  ].join("\n");
}

export function hanging({ quiet, hanging }: Awaited<ReturnType<typeof measureHanging>>): string {
  const both = (key: keyof typeof quiet) =>
    `${quiet[key].toFixed(1)} ms, ${hanging[key].toFixed(1)} ms while they hang`;
  return [
    "While 20 requests to a mapping with an endless transform hang in the worker (the same without them first):",
    `  read (GET job), 10 connections, p99: ${both("read")}`,
    `  another mapping with a transform, from the 202 to the start of its run, p50: ${both("other")}`,
  ].join("\n");
}

export function streams({ streams, kibEach, told, reports, pages }: StreamFigures): string {
  return [
    `${streams} open streams of live events on the one web process:`,
    `  ${kibEach.toFixed(0)} KiB of resident memory each; a change has reached the last of them after ${told.toFixed(0)} ms (p50)`,
    `  reports, 10 connections: ${reports.without.toFixed(0)}/s with none open, ${reports.with.toFixed(0)}/s with all of them told of each job`,
    `  ${pages.open} open pages of ${pages.jobs} busy jobs: ${pages.reports.toFixed(0)} reports/s; MongoDB answers ${pages.queries.toFixed(0)} queries/s, ${pages.queriesWithout.toFixed(0)} without pages`,
  ].join("\n");
}

export function waiting(figures: readonly WaitingFigures[]): string {
  return [
    `p99 of others while 1,000 requests wait for the ends of the same jobs, beside none; goal: ratio <=${MAX_RATIO}`,
    ...figures.map(
      ({ work, without, with: p99, ratio }) =>
        `  ${works[work].title}, 10 connections: ${p99.toFixed(1)} ms beside ${without.toFixed(1)} ms, ratio ${ratio.toFixed(2)}`,
    ),
  ].join("\n");
}

export function processes(figures: ProcessFigures): string {
  return [
    "Reads (GET job) with WEB_CONCURRENCY=2 beside 1, both on the same database; goal: never slower",
    ...figures.map(
      ({ connections, one, two }) =>
        `  ${connections} connections: ${two.toFixed(0)}/s beside ${one.toFixed(0)}/s, ratio ${ratio(two, one)}`,
    ),
  ].join("\n");
}

export function echo({ waiting, concurrency, ours, bullmq }: EchoFigures): string {
  return [
    `${waiting} agent runs that wait, echo runner, one worker process of concurrency ${concurrency}: ${ours.toFixed(0)}/s`,
    `  an empty BullMQ processor: ${bullmq.toFixed(0)}/s; ratio ${(ours / bullmq).toFixed(3)}, goal >=0.125`,
  ].join("\n");
}

export function footprints(processes: readonly Footprint[]): string {
  return [
    "Resident memory under load and once it is over, and the start against running servers; goals: <=150 MiB, <=3000 ms",
    ...processes.map(
      ({ name, loadedMiB, idleMiB, readyAfterMs }) =>
        `  ${name}: ${loadedMiB.toFixed(0)} MiB, then ${idleMiB.toFixed(0)} MiB; ready after ${readyAfterMs.toFixed(0)} ms`,
    ),
  ].join("\n");
}

const CALL_COLUMNS = [32, 10, 10, 7];
const callLine = (cells: readonly string[]): string =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(CALL_COLUMNS[i]!) : cell.padStart(CALL_COLUMNS[i]!))).join("  ");

/** `ratio` is the p50 of the second database divided by that of the first. */
export function call({ title, p50: [first, second] }: CallFigures): string {
  return callLine([title, first!.toFixed(2), second!.toFixed(2), ratio(second!, first!)]);
}

export const heavyHead = `A job with very many steps and jobs with outputs of 2 MiB in the database, beside small ones; p50 in ms
${callLine(["call", "small", "heavy", "ratio"])}`;

export const largeHead = (jobs: number): string => `\
Every call with ${jobs} jobs and ${jobs * STEPS_PER_JOB} steps stored, beside an empty database; p50 in ms; goal: ratio <=1.3
${callLine(["call", "empty", "full", "ratio"])}`;

export const MEASURED_ELSEWHERE = `\
Measured elsewhere (2026-11-21, another run on 2 cores, load on the same machine), not comparable with the table:
  Prefect 3.8, set task state, 10 connections        93–142 requests/s, p50 25–66 ms
  Prefect 3.8, update of a progress artifact        153–231 requests/s
  OpenClaw 2026.9.6, agent hook, 10 connections     2–4 requests/s, p50 2.3–3.1 s (it waits until the run is admitted)
  OpenClaw 2026.9.6, wake hook, 10 connections      6,800–11,500 requests/s (kept in memory, the last 20)`;
