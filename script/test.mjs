/**
 * Runs the tests: `npm test`, or `node script/test.mjs [options] [file or folder …]` for some of them.
 *
 *   --shuffle      runs the files in a random order, which is printed as a seed
 *   --record       writes the duration of each file to test/times.json
 *   --lanes <n>    number of concurrent processes
 *
 * The files wait in one queue, the longest first by test/times.json, for as many processes as the machine can use. All
 * of them share one mongod and one redis-server. Exits with 1 if a test failed.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SHARED_BROWSER, startSharedBrowser } from "../test/support/browser.ts";
import { mongoUri, redisUrl, SHARED, stopServers } from "../test/support/servers/servers.ts";

const TIMES_FILE = "test/times.json";
/** One a processor: the tests wait for servers and processes, but these take the processors meanwhile. */
const LANES = availableParallelism();

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shuffle: { type: "string" },
    record: { type: "boolean", default: false },
    lanes: { type: "string", default: String(LANES) },
  },
});

/** @type {Record<string, number>} seconds by file */
const times = JSON.parse(readFileSync(TIMES_FILE, "utf8"));
const usualSeconds = median(Object.values(times));
const files = (positionals.length > 0 ? positionals : ["test"]).flatMap(testsIn);
const ordered = options.shuffle === undefined ? files.sort(longestFirst) : shuffled(files, Number(options.shuffle));

const scratch = mkdtempSync(join(tmpdir(), "signalbox-tests-"));
const record = join(scratch, "times.jsonl");
const useBrowser = files.some((file) => readFileSync(file, "utf8").includes("support/browser.ts"));
const browser = useBrowser ? await startSharedBrowser() : undefined;
try {
  const [mongodb, redis] = await Promise.all([mongoUri(""), redisUrl()]);
  const env = {
    NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled"),
    ...process.env,
    [SHARED.mongodb]: mongodb,
    [SHARED.redis]: redis,
    ...(browser && { [SHARED_BROWSER]: browser.wsEndpoint() }),
    SIGNALBOX_TEST_TIMES: record,
  };
  process.exitCode = await run(ordered, env);
  if (options.record) writeTimes();
} finally {
  await browser?.close();
  await stopServers();
  rmSync(scratch, { recursive: true, force: true });
}

/**
 * @param {string} path a file or a folder
 * @returns {string[]}
 */
function testsIn(path) {
  if (statSync(path).isFile()) return [relative(".", path)];
  const entries = readdirSync(path, { recursive: true }).map(String);
  return entries.filter((file) => file.endsWith(".test.ts")).map((file) => join(path, file));
}

/**
 * @param {readonly number[]} numbers
 * @returns {number} 0 without numbers
 */
function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/**
 * Sorts the longest files first. A file without a recorded duration counts as one of median duration.
 * @param {string} one
 * @param {string} other
 */
function longestFirst(one, other) {
  /** @param {string} file */
  const seconds = (file) => times[file] ?? usualSeconds;
  return seconds(other) - seconds(one) || one.localeCompare(other);
}

/**
 * @param {readonly string[]} all
 * @param {number} seed
 * @returns {string[]}
 */
function shuffled(all, seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return all
    .map((file) => ({ file, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file);
}

/**
 * @param {readonly string[]} specs
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} the exit code
 */
function run(specs, env) {
  const lanes = Math.min(Number(options.lanes), specs.length);
  const parallel = lanes > 1 ? ["--parallel", "--jobs", String(lanes)] : [];
  const mocha = spawn("mocha", [...parallel, "--reporter", resolve("test/support/mocha/reporter.ts"), ...specs], {
    env,
    stdio: "inherit",
  });
  process.on("SIGINT", () => mocha.kill("SIGINT"));
  process.on("SIGTERM", () => mocha.kill("SIGTERM"));
  return new Promise((done, reject) => {
    mocha.once("error", reject);
    mocha.once("close", (code) => done(code ?? 1));
  });
}

/** Records the durations of this run, and removes those of files that no longer exist. */
function writeTimes() {
  const lines = readFileSync(record, "utf8").trim().split("\n");
  for (const line of lines) {
    const { file, ms } = JSON.parse(line);
    times[relative(".", file)] = Math.round(ms / 100) / 10;
  }
  const existing = Object.entries(times).filter(([file]) => existsSync(file));
  const sorted = existing.sort(([one], [other]) => one.localeCompare(other));
  writeFileSync(TIMES_FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}
