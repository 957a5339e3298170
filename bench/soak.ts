/**
 * `npm run soak`: runs the load of the fault suite without faults for a long time on one web process and two workers. It checks the
 * effect of every acknowledged request, and looks for growing memory.
 *
 *   --minutes N   duration (20)
 *   --seed N      seed of the load (1)
 *
 * Exits with 1 after a violation, and from ten minutes on also when the memory of a process grows.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { attack } from "../test/faults/attack.ts";
import { report } from "../test/faults/report.ts";
import { PRODUCTION_PROCESSES, type System } from "../test/faults/system/system.ts";
import { keepDataOnDisk } from "../test/support/servers/servers.ts";
import { grows, trendOf } from "./statistics.ts";

/** The heap and external memory of each process after a garbage collection, in bytes. */
interface Sample {
  readonly minutes: number;
  readonly held: Readonly<Record<string, number>>;
}

const LOAD = { reporters: 12, sessions: 8, readEveryMs: 20 };
const MIN_SAMPLES = 10;
const CONCLUSIVE_MINUTES = 10;
/** Allowed growth of memory over the second half. */
const ALLOWED_BYTES = 4 * 1024 * 1024;
const MIB = 1024 * 1024;

const { minutes, seed } = soakOptions(process.argv.slice(2));
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
keepDataOnDisk();
const samples: Sample[] = [];
const result = await attack({
  seed,
  topology: "single",
  processes: { ...PRODUCTION_PROCESSES, webs: 1, workers: 2 },
  kinds: [],
  seconds: minutes * 60,
  maxSeconds: 1,
  load: LOAD,
  stop: stop.signal,
  log: (line) => console.error(line),
  onStart: (system) => void sampleMemory(system).catch((error) => console.error("The sampling has failed", error)),
});
console.log(`\n${report(result)}\n`);
const isFlat = judge(samples);
const isConclusive = minutes >= CONCLUSIVE_MINUTES && !stop.signal.aborted;
if (!isConclusive) console.log(`Memory is judged from ${CONCLUSIVE_MINUTES} minutes on.`);
process.exitCode = result.violations.length === 0 && (isFlat || !isConclusive) ? 0 : 1;

/** @throws Error that describes the mistake in the command line */
function soakOptions(args: readonly string[]): { minutes: number; seed: number } {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...args], options: { minutes: text, seed: text } });
  const [minutes, seed] = [Number(values.minutes ?? 20), Number(values.seed ?? 1)];
  if (!(minutes > 0)) throw new Error(`--minutes is a number above 0, not ${values.minutes}`);
  if (!Number.isInteger(seed)) throw new Error(`--seed is a whole number, not ${values.seed}`);
  return { minutes, seed };
}

/** Measures and prints the memory of each process in the middle of each minute, or of each tenth of a shorter soak. */
async function sampleMemory({ webs, workers }: System): Promise<void> {
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 60_000;
  const processes = [...webs, ...workers];
  console.log(["minutes", ...processes.map(({ name }) => `${name}, MiB`)].join("\t"));
  const each = Math.min(1, minutes / MIN_SAMPLES);
  for (let due = each / 2; due < minutes; due += each) {
    await pause(Math.max(0, due - elapsed()) * 60_000, undefined, { signal: stop.signal });
    if (elapsed() > minutes) return; // The processes are about to end.
    const held = await Promise.all(processes.map(async (one) => [one.name, await one.heldBytes()] as const));
    samples.push({ minutes: due, held: Object.fromEntries(held) });
    console.log([due.toFixed(2), ...held.map(([, bytes]) => (bytes / MIB).toFixed(1))].join("\t"));
  }
}

/** Prints the trend of each process's memory in the second half, and returns whether none grows. */
function judge(all: readonly Sample[]): boolean {
  const half = all.slice(all.length >> 1);
  const [first, last] = [half[0], half.at(-1)];
  if (!first || !last || half.length < 3) return true;
  const verdicts = Object.keys(first.held).map((name) => {
    const trend = trendOf(half.map(({ minutes, held }) => [minutes, held[name]!]));
    const isGrowing = grows(trend, last.minutes - first.minutes, ALLOWED_BYTES);
    const kib = [trend.slope, 2 * trend.error].map((bytes) => (bytes / 1024).toFixed(1)).join(" ± ");
    console.log(`${name}: memory ${isGrowing ? "GROWS" : "is flat"} (second half: ${kib} KiB a minute)`);
    return isGrowing;
  });
  return !verdicts.includes(true);
}
