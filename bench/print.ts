import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import type { measureHanging } from "./hang.ts";
import type { Row } from "./measure.ts";
import type { Service } from "./services.ts";
import type { StartTimes } from "./start.ts";
import type { StreamFigures } from "./streams.ts";
import { works } from "./works.ts";

/** What the figures depend on, in a few lines. */
export function facts(turns: number, seconds: number): string {
  const mongod = execFileSync(".tools/bin/mongod", ["--version"], { encoding: "utf8" }).match(/v(\d[\d.]*)/)?.[1];
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), node ${process.version}, mongod ${mongod ?? "unknown"}`,
    "One mongod (replica set of one, on disk), both services and the load share this machine. Every write is",
    "acknowledged by a majority and journaled, for both services.",
    `Median of ${turns} turns of ${seconds} s for each figure; the services take turns.`,
    "Figures are comparable only within one run.",
  ].join("\n");
}

const COLUMNS = [18, 11, 11, 9, 9, 11, 9, 9, 7];

export function head([ours, naive]: readonly [Service, Service]): string {
  const names = ["", "", ours.name, "", "", naive.name, "", "", ""];
  const units = ["work", "connections", "requests/s", "p50 ms", "p99 ms", "requests/s", "p50 ms", "p99 ms", "ratio"];
  return `${line(names)}\n${line(units)}\n${line(COLUMNS.map((width) => "-".repeat(width)))}`;
}

/** `ratio` is ours through naive, in requests a second. */
export function row({ work, connections, figures }: Row): string {
  const ratio = figures[0]!.perSecond / figures[1]!.perSecond;
  const cells = figures.flatMap(({ perSecond, p50, p99 }) => [perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)]);
  return line([works[work].title, String(connections), ...cells, ratio.toFixed(2)]);
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, i) => (i === 0 ? cell.padEnd(COLUMNS[i]!) : cell.padStart(COLUMNS[i]!)))
    .join("  ")
    .trimEnd();
}

/** What is not in the table because the naive service has no worker. */
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

export function streams({ streams, kibEach, told, reports }: StreamFigures): string {
  return [
    `${streams} open streams of live events on the one web process:`,
    `  ${kibEach.toFixed(0)} KiB of resident memory each; a change has reached the last of them after ${told.toFixed(0)} ms (p50)`,
    `  reports, 10 connections: ${reports.without.toFixed(0)}/s with none open, ${reports.with.toFixed(0)}/s with all of them told of each job`,
  ].join("\n");
}

export const MEASURED_ELSEWHERE = `\
Measured elsewhere (2026-11-21, another run on 2 cores, load on the same machine), not comparable with the table:
  Prefect 3.8, set task state, 10 connections        93–142 requests/s, p50 25–66 ms
  Prefect 3.8, update of a progress artifact        153–231 requests/s
  OpenClaw 2026.9.6, agent hook, 10 connections     2–4 requests/s, p50 2.3–3.1 s (it waits until the run is admitted)
  OpenClaw 2026.9.6, wake hook, 10 connections      6,800–11,500 requests/s (kept in memory, the last 20)`;
