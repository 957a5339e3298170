import { randomInt } from "node:crypto";
import { Command, InvalidArgumentError, Option } from "commander";
import { attack } from "./attack.ts";
import { KIND_NAMES, KINDS, type Kind, type Topology } from "./plan.ts";
import { report } from "./report.ts";
import { REAL } from "./system/system.ts";

const MOST_SEED = 2 ** 31 - 1;

function whole(least: number, most: number) {
  return (text: string): number => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}

function kinds(text: string): Kind[] {
  const named = text.split(",").map((name) => name.trim());
  const unknown = named.find((name) => !Object.hasOwn(KINDS, name));
  if (unknown === undefined) return named as Kind[];
  throw new InvalidArgumentError(`There is no ${JSON.stringify(unknown)}: ${KIND_NAMES.join(", ")}.`);
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
    "Has faults fall on real processes and servers under load, and proves that nothing acknowledged was lost, nothing was done twice and nobody saw progress go back. Ends with 1 where anything of that is not so.",
  )
  .addOption(
    new Option("--seed <number>", "what happens, and when; the same seed plans the same")
      .argParser(whole(0, MOST_SEED))
      .default(randomInt(MOST_SEED), "drawn anew"),
  )
  .option("--seconds <number>", "how long faults fall", whole(1, 86_400), 180)
  .option("--most <seconds>", "no fault lasts longer", whole(1, 600), 30)
  .addOption(
    new Option("--faults <kinds>", "which kinds, with commas between").argParser(kinds).default(KIND_NAMES, "all"),
  )
  .addOption(
    new Option("--mongodb <topology>", "one mongod, a replica set of three, or one after the other")
      .choices(["single", "set", "both"])
      .default("both"),
  )
  .addHelpText("after", `\nKinds of faults:\n${list.join("\n")}`)
  .parse();

const { seed, seconds, most, faults, mongodb } = command.opts<Options>();
const over = new AbortController();
process.once("SIGINT", () => over.abort());
const topologies = mongodb === "both" ? (["single", "set"] as const) : [mongodb];
for (const topology of topologies) {
  if (over.signal.aborted) break;
  const say = (line: string) => console.error(line);
  const attacked = await attack({
    ...{ seed, topology, seconds, mostSeconds: most, over: over.signal, say },
    ...{ kinds: faults, processes: REAL, load: { reporters: 6, sessions: 4, readEveryMs: 20 } },
  });
  console.log(`\n${report(attacked)}`);
  if (attacked.violations.length === 0) continue;
  process.exitCode = 1;
  const again = `--seed ${seed} --seconds ${seconds} --most ${most} --faults ${faults.join(",")} --mongodb ${topology}`;
  console.log(`\nThe same faults again: npm run test:faults -- ${again}`);
}
