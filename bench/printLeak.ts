import { type LeakRow, type LeakVerdict, PROCESSES } from "./leak.ts";
import { machine } from "./print.ts";

const MIB = 1024 * 1024;
const COLUMNS = [9, 7, 7, 9, 8, 8, 8, 7, 11, 9, 7];

export const line = (cells: readonly string[], columns: readonly number[]): string =>
  cells.map((cell, i) => cell.padStart(columns[i]!)).join("  ");

export const facts = (requests: number, seed: number): string => `\
${machine()}
${requests} mixed requests, 100 connections, seed ${seed}, after a twentieth as many to warm up. A web process and a worker, looked at when
nothing is under way, after a forced collection.`;

export const head: string = line(
  [
    "requests",
    "per s",
    "process",
    "heap MiB",
    "ext. MiB",
    "RSS MiB",
    "handles",
    "timers",
    "descriptors",
    "listeners",
    "clients",
  ],
  COLUMNS,
);

export function rows({ requests, perSecond, errors, faults, holding, clients }: LeakRow): string {
  const errorLines = errors > 0 ? [`${errors} errors, such as: ${faults.join("; ")}`] : [];
  return [
    ...PROCESSES.map((process) => {
      const { heap, external, resident, handles, timers, descriptors, listeners } = holding[process];
      const memory = [heap, external, resident].map((bytes) => (bytes / MIB).toFixed(1));
      const counts = [handles, timers, descriptors, listeners, process === "web" ? clients : ""].map(String);
      return line([String(requests), perSecond.toFixed(0), process, ...memory, ...counts], COLUMNS);
    }),
    ...errorLines,
  ].join("\n");
}

export const verdict = (verdicts: readonly LeakVerdict[]): string =>
  verdicts
    .map(({ process, memory, memoryGrows, handles, descriptors, listeners }) => {
      const slope = `${memory.slope.toFixed(2)} ± ${(2 * memory.error).toFixed(2)} bytes a request`;
      const more = `more handles: ${handles}, descriptors: ${descriptors}, listeners: ${listeners}`;
      return `${process}: memory ${memoryGrows ? "GROWS" : "does not grow"} (${slope}); ${more}`;
    })
    .join("\n");
