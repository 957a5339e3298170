import { parseArgs } from "node:util";
import { OWN_ROW_NAMES, type OwnRowName, WORK_NAMES, type WorkName } from "./works.ts";

export interface BenchOptions {
  /** Length of a turn. */
  readonly seconds: number;
  /** Number of turns of each service for each row of the table. */
  readonly turns: number;
  /** A short run, which only shows that the bench works. */
  readonly quick: boolean;
  /** The only rows to measure, in the order of the tables; undefined measures everything. */
  readonly only?: { readonly works: readonly WorkName[]; readonly own: readonly OwnRowName[] };
  /** Whether the result is written to bench/results. */
  readonly save: boolean;
  /** Number of jobs for the comparison with an empty database, instead of everything else; 0 for none. */
  readonly large: number;
  /** Number of mixed requests for the leak detection, instead of everything else; 0 for none. */
  readonly leak: number;
  /** Minutes of steady load, instead of everything else; 0 for none. */
  readonly soak: number;
  /** Requests per second of the soak. */
  readonly rate: number;
  /** Measures the processor time of each process for a request, instead of everything else. */
  readonly cpu: boolean;
  /** Measures what open streams of live events cost, instead of everything else. */
  readonly streams: boolean;
  /** Measures what others notice of waiting requests, instead of everything else. */
  readonly waiting: boolean;
  /** Whether to measure the search for a token. */
  readonly tokens: boolean;
  /** Measures how hostile clients affect others, instead of everything else. */
  readonly attack: boolean;
  /** Runs every measurement briefly and prints JSON. */
  readonly selftest: boolean;
  /** The seed of the mixed requests. */
  readonly seed: number;
}

const MAX_TURNS = 100;

export const USAGE = `npm run bench -- [--quick] [--only ROWS] [--turns N] [--seconds S] [--save] [--large [JOBS]]
  --quick         a short form of everything, about a minute
  --only ROWS     these rows alone, with commas between them: ${WORK_NAMES.join(", ")};
                  ${OWN_ROW_NAMES.join(", ")}
  --turns N       turns of each service for each row, 1 to ${MAX_TURNS} (5; with --quick 1)
  --seconds S     length of a turn, more than 0 and at most 60 (1.25; or BENCH_SECONDS)
  --save          writes the result to bench/results, as a run does without --quick and --only
  --large JOBS    instead: every call with JOBS jobs of five steps stored, beside an empty database (1000000); with
                  --quick each 20 times and not 200
  --cpu           instead: what each process takes of the processor for a request
  --streams       instead: what a thousand open streams of live events and pages of jobs cost
  --waiting       instead: what others notice of a thousand requests that wait (Prefer: wait)
  --tokens        instead: the search for the token of a request among 1,000; fails above 50 µs
  --attack        instead: what others notice of hostile clients; with --quick its short form
  --leak COUNT    instead: what web and worker hold after each tenth of COUNT mixed requests (1000000)
  --soak MINUTES  instead: a web process and two workers under a steady load (20)
  --rate N        its requests a second (50)
  --selftest      instead: everything for a moment, on services started once; prints what came of it as JSON
  --seed N        of the mixed requests of --leak and --soak (1)`;

/** Options whose value may be omitted: the value without one, and its limits. */
const COUNTS = {
  large: { alone: 1_000_000, most: 10_000_000, what: "a number of jobs", whole: true },
  leak: { alone: 1_000_000, most: 100_000_000, what: "a number of requests", whole: true },
  soak: { alone: 20, most: 10_000, what: "a number of minutes", whole: false },
  rate: { alone: 50, most: 10_000, what: "a number of requests a second", whole: true },
  seed: { alone: 1, most: 2 ** 31, what: "a number", whole: true },
} as const;
type Count = keyof typeof COUNTS;

/** @throws Error that describes the mistake in the command line */
export function benchOptions(args: readonly string[], env: NodeJS.ProcessEnv): BenchOptions {
  const flags = args.map((arg, i) => {
    const count = COUNTS[arg.slice(2) as Count];
    return arg.startsWith("--") && count && !/^\d/.test(args[i + 1] ?? "") ? `${arg}=${count.alone}` : arg;
  });
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    quick: flag,
    save: flag,
    only: text,
    turns: text,
    attack: flag,
    selftest: flag,
    cpu: flag,
    streams: flag,
    waiting: flag,
    tokens: flag,
    seconds: text,
    large: text,
    leak: text,
    soak: text,
    rate: text,
    seed: text,
  };
  const { values } = parseArgs({ args: flags, options });
  const quick = values.quick ?? false;
  const seconds = Number(values.seconds ?? env.BENCH_SECONDS ?? (quick ? 0.15 : 1.25));
  if (!(seconds > 0 && seconds <= 60)) {
    throw new Error(`--seconds is a number of seconds, more than 0 and at most 60, not ${values.seconds}`);
  }
  const turns = Number(values.turns ?? (quick ? 1 : 5));
  if (!(Number.isInteger(turns) && turns >= 1 && turns <= MAX_TURNS)) {
    throw new Error(`--turns is a whole number from 1 to ${MAX_TURNS}, not ${values.turns}`);
  }
  const only = values.only === undefined ? undefined : rowsNamed(values.only.split(","));
  const count = (name: Count, otherwise = 0): number => {
    const { most, what, whole } = COUNTS[name];
    const value = Number(values[name] ?? otherwise);
    if (value >= 0 && value <= most && (!whole || Number.isInteger(value))) return value;
    throw new Error(`--${name} is ${what}, at most ${most}, not ${values[name]}`);
  };
  const counts = {
    large: count("large"),
    leak: count("leak"),
    soak: count("soak"),
    rate: count("rate", 50),
    seed: count("seed", 1),
  };
  const { attack = false, cpu = false, streams = false, waiting = false, tokens = false, selftest = false } = values;
  const save = values.save ?? !(quick || only);
  return {
    seconds,
    turns,
    quick,
    ...(only && { only }),
    save,
    attack,
    cpu,
    streams,
    waiting,
    tokens,
    selftest,
    ...counts,
  };
}

/** @throws Error for an unknown row */
function rowsNamed(names: readonly string[]): NonNullable<BenchOptions["only"]> {
  const known: readonly string[] = [...WORK_NAMES, ...OWN_ROW_NAMES];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--only: there is no row "${unknown}", only ${known.join(", ")}`);
  return {
    works: WORK_NAMES.filter((name) => names.includes(name)),
    own: OWN_ROW_NAMES.filter((name) => names.includes(name)),
  };
}
