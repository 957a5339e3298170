import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Length of a turn. */
  readonly seconds: number;
  /** Turns of each service for each row of the table. */
  readonly turns: number;
  /** A short form, which shows that the bench works and nothing else. */
  readonly quick: boolean;
  /** So many jobs to store before calls are compared with those on an empty database; 0: the table and what belongs to it. */
  readonly large: number;
}

export const USAGE = `npm run bench -- [--quick] [--seconds S] [--large [JOBS]]
  --quick         a short form of everything, under a minute
  --seconds S     length of a turn, more than 0 and at most 60 (1.25; or BENCH_SECONDS)
  --large JOBS    instead: every call with JOBS jobs of five steps stored, beside an empty database (1000000)`;

const MOST_JOBS = 10_000_000;

/** @throws Error that says what is wrong with the command line */
export function benchOptions(args: readonly string[], env: NodeJS.ProcessEnv): BenchOptions {
  const flags = args.map((arg, i) => (arg === "--large" && !/^\d/.test(args[i + 1] ?? "") ? "--large=1000000" : arg));
  const { values } = parseArgs({
    args: flags,
    options: { quick: { type: "boolean" }, seconds: { type: "string" }, large: { type: "string" } },
  });
  const quick = values.quick ?? false;
  const seconds = Number(values.seconds ?? env.BENCH_SECONDS ?? (quick ? 0.15 : 1.25));
  if (!(seconds > 0 && seconds <= 60)) {
    throw new Error(`--seconds is a number of seconds, more than 0 and at most 60, not ${values.seconds}`);
  }
  const large = Number(values.large ?? 0);
  if (!(Number.isInteger(large) && large >= 0 && large <= MOST_JOBS)) {
    throw new Error(`--large is a number of jobs, at most ${MOST_JOBS}, not ${values.large}`);
  }
  return { seconds, turns: quick ? 1 : 5, quick, large };
}
