import { randomInt } from "node:crypto";
import { Command, InvalidArgumentError, Option } from "commander";
import { attack } from "./attack.ts";
import { KIND_NAMES, KINDS, type Kind, type Topology } from "./plan.ts";
import { report } from "./report.ts";
import { PRODUCTION_PROCESSES } from "./system/system.ts";

const MAX_SEED = 2 ** 31 - 1;

function whole(least: number, most: number) {
  return (text: string): number => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

function kinds(text: string): Kind[] {
  const named = text.split(",").map((name) => name.trim());
  const unknown = named.find((name) => !Object.hasOwn(KINDS, name));
  if (unknown === undefined) return named as Kind[];
  throw new InvalidArgumentError(`Unknown kind ${JSON.stringify(unknown)}. The kinds are ${KIND_NAMES.join(", ")}.`);
}

interface Options {
  readonly seed: number;
  readonly seconds: number;
  readonly most: number;
  readonly faults: Kind[];
  readonly mongodb: Topology | "both";
}

const list = KIND_NAMES.map((kind) => `  ${kind.padEnd(14)}${KINDS[kind].what}`);

const command = new Command("npm run test:faults --")
  .description(
    "Injects faults into real processes and servers under load, and checks that nothing acknowledged was lost, nothing was done twice and no reader saw decreasing progress. Exits with 1 after a violation.",
  )
  .addOption(
    new Option("--seed <number>", "the seed of the plan: the same seed produces the same faults at the same times")
      .argParser(whole(0, MAX_SEED))
      .default(randomInt(MAX_SEED), "random"),
  )
  .option("--seconds <number>", "how long faults are injected", whole(1, 86_400), 180)
  .option("--most <seconds>", "maximum duration of a fault", whole(1, 600), 30)
  .addOption(
    new Option("--faults <kinds>", "kinds of faults, separated by commas").argParser(kinds).default(KIND_NAMES, "all"),
  )
  .addOption(
    new Option("--mongodb <topology>", "one mongod, a replica set of three, or both in sequence")
      .choices(["single", "set", "both"])
      .default("both"),
  )
  .addHelpText("after", `\nKinds of faults:\n${list.join("\n")}`)
  .parse();

const { seed, seconds, most, faults, mongodb } = command.opts<Options>();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const topologies = mongodb === "both" ? (["single", "set"] as const) : [mongodb];
for (const topology of topologies) {
  if (stop.signal.aborted) break;
  const log = (line: string) => console.error(line);
  const result = await attack({
    seed,
    topology,
    seconds,
    maxSeconds: most,
    stop: stop.signal,
    log,
    kinds: faults,
    processes: PRODUCTION_PROCESSES,
    load: { reporters: 6, sessions: 4, readEveryMs: 20 },
  });
  console.log(`\n${report(result)}`);
  if (result.violations.length === 0) continue;
  process.exitCode = 1;
  const again = `--seed ${seed} --seconds ${seconds} --most ${most} --faults ${faults.join(",")} --mongodb ${topology}`;
  console.log(`\nTo repeat these faults: npm run test:faults -- ${again}`);
}
