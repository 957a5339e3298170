import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Turns } from "./measure.ts";
import { KINDS, type Kind, WORK_NAMES, type WorkName } from "./works.ts";

export interface BenchOptions extends Turns {
  /** A short run, which only shows that the bench works. */
  readonly quick: boolean;
  /** The rows to measure, in the order of the table. */
  readonly works: readonly WorkName[];
  readonly kinds: readonly Kind[];
  /** The root of another clone of Signalbox, which is measured instead of the plain service. */
  readonly beside?: string;
  /** Whether the result is written to bench/results, as after a whole run. */
  readonly save: boolean;
}

const MAX_TURNS = 100;
const MAX_SECONDS = 60;
const KIND_NAMES = Object.keys(KINDS) as Kind[];

const USAGE = `npm run bench -- [--quick] [--only ROWS] [--mongodb KIND] [--turns N] [--seconds S] [--beside CLONE]
  --quick          a short form of everything, about a minute
  --only ROWS      these rows alone, with commas between them: ${WORK_NAMES.join(", ")}
  --mongodb KIND   one kind of MongoDB alone: ${KIND_NAMES.join(" or ")}
  --turns N        turns of each service for each row and number of connections, 1 to ${MAX_TURNS} (5; with --quick 1)
  --seconds S      length of a turn, more than 0 and at most ${MAX_SECONDS} (1.25; with --quick 0.15)
  --beside CLONE   compares with another clone of Signalbox instead of the plain service`;

/** @throws Error that describes the mistake in the command line, and the options */
export function benchOptions(args: readonly string[]): BenchOptions {
  try {
    return parsed(args);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function parsed(args: readonly string[]): BenchOptions {
  const text = { type: "string" } as const;
  const options = { only: text, mongodb: text, turns: text, seconds: text, beside: text };
  const { values } = parseArgs({
    args: [...args],
    options: { ...options, quick: { type: "boolean", default: false } },
  });
  const { quick, only, mongodb, beside } = values;
  const seconds = Number(values.seconds ?? (quick ? 0.15 : 1.25));
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    throw new Error(`--seconds is a number of seconds, more than 0 and at most ${MAX_SECONDS}, not ${values.seconds}`);
  }
  const turns = Number(values.turns ?? (quick ? 1 : 5));
  if (!(Number.isInteger(turns) && turns >= 1 && turns <= MAX_TURNS)) {
    throw new Error(`--turns is a whole number from 1 to ${MAX_TURNS}, not ${values.turns}`);
  }
  return {
    quick,
    turns,
    seconds,
    warmUpTurns: quick ? 0 : 2,
    jobs: quick ? 50 : 1_000,
    works: chosen("--only", only, WORK_NAMES),
    kinds: chosen("--mongodb", mongodb, KIND_NAMES),
    ...(beside !== undefined && { beside: resolve(beside) }),
    save: !quick && only === undefined && mongodb === undefined && beside === undefined,
  };
}

/** Returns the known names that an option lists, in their own order; all without the option. */
function chosen<T extends string>(option: string, given: string | undefined, known: readonly T[]): readonly T[] {
  if (given === undefined) return known;
  const names: readonly string[] = given.split(",");
  const unknown = names.find((name) => !known.includes(name as T));
  if (unknown !== undefined) throw new Error(`${option}: "${unknown}" is unknown, only ${known.join(", ")} are known`);
  return known.filter((name) => names.includes(name));
}
