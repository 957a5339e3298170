import type { MixedAnswer } from "./mixedLoad.ts";
import { machine } from "./print.ts";
import { line } from "./printLeak.ts";
import { judgeSoak, PROCESSES, type SoakRow } from "./soak.ts";

const MIB = 1024 * 1024;
const COLUMNS = [6, 8, 6, 7, 7, 18, 18, 18, 8, 6];

export const facts = ({ soak, rate, seed }: { soak: number; rate: number; seed: number }): string => `\
${machine()}
A web process and two workers for ${soak} minutes, ${rate} requests a second whether or not they are answered, seed ${seed}.
Latencies in ms, from the moment when a request was due; memory after a collection at the beginning of each row, heap + external / RSS in MiB.`;

export const head: string = line(
  ["min", "requests", "errors", "p50", "p99", ...PROCESSES, "MongoDB", "queued"],
  COLUMNS,
);

export function row({ seconds, load, holding, databaseConnections, queued }: SoakRow): string {
  const memory = holding.map(({ heap, external, resident }) => {
    return `${((heap + external) / MIB).toFixed(1)} / ${(resident / MIB).toFixed(0)}`;
  });
  const latencies = [load.p50, load.p99].map((ms) => ms.toFixed(1));
  const counts = [databaseConnections, queued].map(String);
  const cells = [
    (seconds / 60).toFixed(1),
    String(load.answered),
    String(load.errors),
    ...latencies,
    ...memory,
    ...counts,
  ];
  return [line(cells, COLUMNS), ...load.faults.map((fault) => `  ${fault}`)].join("\n");
}

export function verdict(rows: readonly SoakRow[], { accepted }: MixedAnswer, undone: readonly string[]): string {
  const { memory, p99 } = judgeSoak(rows);
  const errors = rows.reduce((sum, { load }) => sum + load.errors, 0);
  const { runs, wakes, deliveries, jobs } = accepted;
  return [
    ...memory.map(({ slope, error, grows }, i) => {
      const kib = (bytes: number) => (bytes / 1024).toFixed(1);
      return `${PROCESSES[i]}: memory ${grows ? "GROWS" : "is flat"} (second half: ${kib(slope)} ± ${kib(2 * error)} KiB a minute)`;
    }),
    `p99: ${p99.second.toFixed(1)} ms in the second quarter, ${p99.last.toFixed(1)} ms in the last, ratio ${(p99.last / p99.second).toFixed(2)}: ${p99.isFlat ? "flat" : "NOT FLAT"}`,
    `requests not answered as they are to be: ${errors}`,
    `accepted: ${runs} runs, ${wakes} wakes, ${deliveries} deliveries, ${jobs.length} jobs that are there; ${undone.length === 0 ? "all done" : `NOT DONE: ${undone.join("; ")}`}`,
  ].join("\n");
}
