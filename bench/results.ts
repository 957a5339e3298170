import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "./measure.ts";
import type { OwnFigures } from "./own.ts";
import { ownRows, works } from "./works.ts";

/** The folder of the results. */
export const RESULTS = fileURLToPath(new URL("./results", import.meta.url));

/** The machine of the figures, without host names and paths, so that results may be published. */
export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly node: string;
  /** The version; null if it is unknown. */
  readonly mongod: string | null;
}

/** One run of the bench. */
export interface Result {
  /** ISO 8601 in UTC. */
  readonly date: string;
  readonly machine: Machine;
  /** The output of `git describe`, with `-dirty` for uncommitted changes. */
  readonly commit: string | null;
  readonly turns: number;
  /** Length of a turn. */
  readonly seconds: number;
  /** The table: figures of Signalbox and of the naive service, and the first divided by the second. */
  readonly rows: readonly (Row & { readonly title: string; readonly goal: object })[];
  /** The second table: figures of the two works that the title names, and the first divided by the second. */
  readonly own: readonly (OwnFigures & { readonly title: string; readonly goal: object })[];
  /** The other measurements, by name. */
  readonly more: Readonly<Record<string, unknown>>;
}

interface Measurements {
  readonly rows: readonly Row[];
  readonly own: readonly OwnFigures[];
  readonly more: Readonly<Record<string, unknown>>;
}

export function makeResult(
  { turns, seconds }: { turns: number; seconds: number },
  { rows, own, more }: Measurements,
): Result {
  return {
    date: new Date().toISOString(),
    machine: thisMachine(),
    commit: output("git", "describe", "--always", "--dirty"),
    ...{ turns, seconds },
    rows: rows.map((row) => ({
      ...{ title: works[row.work].title, ...row },
      goal: works[row.work].goals[row.connections],
    })),
    own: own.map((row) => {
      const { title, goals } = ownRows[row.row];
      return { title, ...row, goal: { rate: goals[row.connections] } };
    }),
    more,
  };
}

/** Writes a result to a file named by day and machine, which replaces an earlier one, and returns its path. */
export function saveResult(result: Result, folder: string = RESULTS): string {
  const { cores, cpu } = result.machine;
  const model = cpu.replace(/[^\w.]+/g, "-").replace(/^-|-$/g, "");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${result.date.slice(0, 10)}-${cores}x${model}.json`);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}

export function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    node: process.version,
    mongod: output(".tools/bin/mongod", "--version")?.match(/v(\d[\d.]*)/)?.[1] ?? null,
  };
}

/** Returns a program's output, or null if it fails. */
function output(program: string, ...args: string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}
