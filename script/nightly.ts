/**
 * `npm run test:nightly`: runs everything that takes too long for the gate in sequence, each part with a fresh seed.
 *
 *   --seed <n>     the same seed for all parts
 *   --only <part>  one part: properties, input, packages, generators, faults, faultsAgain, load, bench or soak
 *
 * Prints each seed and the command that repeats a part, continues after a failed part, and exits with 1 if any failed.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** Maximum seed: some tests add a small number to it, and the sum must be a 32-bit integer. */
const MOST_SEED = 2 ** 31 - 10_000;
const TIMES = 10;
/** Timeout for tests without one of their own: ten times the cases take ten times as long. */
const MOCHA_OPTIONS = "--timeout 600000";

/** The tests of what is published, which run on more runtimes than in the gate. */
const PACKAGES = [
  "test/slow/package/package.test.ts",
  "test/slow/client/package.test.ts",
  "test/slow/clients/python.test.ts",
];

interface Part {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const allFiles = readdirSync("test", { recursive: true })
  .map((file) => join("test", String(file)))
  .filter((file) => !file.includes("node_modules"));

/** The tests that only this command runs. */
const NIGHTLY = join("test", "nightly");
/** They install linters and generators of clients of /openapi.json. */
const GENERATORS = join(NIGHTLY, "generators");
/** Such as web and worker in the memory of a dyno, and a backup beside writers. */
const loadTests = allFiles.filter(
  (file) => file.endsWith(".test.ts") && file.startsWith(NIGHTLY) && !file.startsWith(GENERATORS),
);

/** Returns the test files with random cases, except those of bad input, which are a part of their own. */
function propertyTests(): string[] {
  const isRandom = (file: string) => /from "fast-check"|support\/random\.ts"/.test(readFileSync(file, "utf8"));
  const others = ["input", "faults"].flatMap((folder) => [join("test", folder), join("test", "slow", folder)]);
  const apart = [...others, NIGHTLY];
  return allFiles
    .filter((file) => file.endsWith(".test.ts") && !apart.some((folder) => file.startsWith(folder)) && isRandom(file))
    .sort();
}

const random = (seed: number) => ({ TEST_SEED: String(seed), TEST_TIMES: String(TIMES), MOCHA_OPTIONS });
const faults = (seed: number): Part => ({ args: ["test/faults/main.ts", "--seed", String(seed)] });

const PARTS: Readonly<Record<string, (seed: number) => Part>> = {
  properties: (seed) => ({ args: ["script/test.mjs", ...propertyTests()], env: random(seed) }),
  input: (seed) => ({ args: ["script/test.mjs", "test/input", "test/slow/input"], env: random(seed) }),
  packages: () => ({ args: ["script/test.mjs", ...PACKAGES], env: { TEST_PACKAGES: "full" } }),
  generators: () => ({ args: ["script/test.mjs", GENERATORS] }),
  faults,
  faultsAgain: faults,
  load: () => ({ args: ["script/test.mjs", ...loadTests], env: { TEST_MINUTES: "5", MOCHA_OPTIONS } }),
  bench: () => ({ args: ["bench/run.ts"] }),
  soak: (seed) => ({ args: ["bench/soak.ts", "--seed", String(seed)] }),
};

const { values } = parseArgs({ options: { seed: { type: "string" }, only: { type: "string" } } });
const given = values.seed === undefined ? undefined : Number(values.seed);
if (given !== undefined && !(Number.isInteger(given) && given >= 0 && given < MOST_SEED)) {
  throw new Error(`--seed is a whole number from 0 to ${MOST_SEED - 1}, not ${values.seed}`);
}
if (values.only !== undefined && !Object.hasOwn(PARTS, values.only)) {
  throw new Error(`--only is one of ${Object.keys(PARTS).join(", ")}, not ${values.only}`);
}

const quote = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word}'`);
const failed: string[] = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (values.only !== undefined && name !== values.only) continue;
  const seed = given ?? randomInt(MOST_SEED);
  const { args, env = {} } = part(seed);
  const variables = Object.entries(env).map(([key, value]) => `${key}=${quote(value)}`);
  const command = [...variables, "node", ...args].join(" ");
  console.log(`\n=== ${name}, seed ${seed}: ${command}\n`);
  const { status, signal } = spawnSync(process.execPath, args, { env: { ...process.env, ...env }, stdio: "inherit" });
  if (signal === "SIGINT") process.exit(130);
  if (status !== 0) failed.push(`${name} (seed ${seed}) ended with ${status ?? signal}. Again: ${command}`);
}
console.log(failed.length === 0 ? "\nEvery part succeeded." : `\n${failed.length} failed:\n${failed.join("\n")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
