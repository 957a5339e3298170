/**
 * Runs the tests: the first tier, or `node script/test.mjs [options] [file or folder …]` for some files.
 *
 *   --slow         runs the slow tier, test/slow, and repeats a failing file once, alone: if it passes then, it is printed
 *                  as flaky and counts as passed
 *   --check        runs the checks (`npm run check`) beside the tests
 *   --shuffle <n>  runs the files in a random order of this seed
 *   --record       writes the duration of each file to test/times.json
 *   --lanes <n>    number of concurrent processes; at least two with --record, because in one process files are not timed apart
 *
 * The files wait in one queue, the longest first by test/times.json, for as many processes as the machine can use. All
 * of them share one mongod and one redis-server. Closes with the numbers of tests that passed and failed and the checks that
 * failed, and exits with 1 if there are any.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, constants, setPriority, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { SHARED_BROWSER, startSharedBrowser } from "../test/support/browser.ts";
import { mongoUri, redisUrl, SHARED, stopServers } from "../test/support/servers/servers.ts";

const TIMES_FILE = "test/times.json";
const SLOW_TIER = join("test", "slow");
/** The folders whose tests run only when they are named, or when the command says so. */
const APART = [SLOW_TIER, join("test", "nightly")];
/** One more than processors: with one each, the tests and their servers use two thirds of the time of the processors. */
const LANES = availableParallelism() + 1;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    slow: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    shuffle: { type: "string" },
    record: { type: "boolean", default: false },
    lanes: { type: "string", default: String(LANES) },
  },
});

/** @type {Record<string, number>} seconds by file */
const times = JSON.parse(readFileSync(TIMES_FILE, "utf8"));
const usualSeconds = median(Object.values(times));
const files = (positionals.length > 0 ? positionals : [options.slow ? SLOW_TIER : "test"]).flatMap(testsIn);
const ordered = options.shuffle === undefined ? files.sort(longestFirst) : shuffled(files, Number(options.shuffle));

const began = performance.now();
const scratch = mkdtempSync(join(tmpdir(), "signalbox-tests-"));
const record = join(scratch, "times.jsonl");
const resultsFile = join(scratch, "results.json");
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
    SIGNALBOX_TEST_RESULTS: resultsFile,
  };
  const [outcome, checks] = await Promise.all([runTests(ordered, env), options.check ? runChecks() : ""]);
  printSummary(outcome, checks);
  process.exitCode = outcome.code || (checks === "" ? 0 : 1);
  if (options.record) writeTimes();
} finally {
  await browser?.close();
  await stopServers();
  rmSync(scratch, { recursive: true, force: true });
}

/**
 * Lists the tests in a folder, without those of the folders apart unless it is in one of them.
 * @param {string} path a file or a folder
 * @returns {string[]}
 */
function testsIn(path) {
  if (statSync(path).isFile()) return [relative(".", path)];
  const entries = readdirSync(path, { recursive: true }).map((file) => join(relative(".", path), String(file)));
  const tests = entries.filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
  return isApart(relative(".", path)) ? tests : tests.filter((file) => !isApart(file));
}

/**
 * @param {string} path
 * @returns {boolean}
 */
function isApart(path) {
  return APART.some((folder) => `${path}/`.startsWith(`${folder}/`));
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

/** @typedef {Record<string, { passed: number, failed: number }>} Results the numbers of tests by file */

/**
 * Runs the tests, and in the slow tier the failing files once more.
 * @param {readonly string[]} specs
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ code: number, results: Results, flaky: string[] }>}
 */
async function runTests(specs, env) {
  let { code, results } = await runMocha(specs, env);
  const failed = Object.keys(results).filter((file) => results[file]?.failed);
  /** @type {string[]} */
  const flaky = [];
  if (code === 0 || !options.slow || failed.length === 0) return { code, results, flaky };
  code = 0;
  for (const file of failed) {
    console.log(`\nOnce more, alone: ${file}`);
    const again = await runMocha([file], env);
    results = { ...results, ...again.results };
    if (again.code === 0) flaky.push(file);
    code ||= again.code;
  }
  return { code, results, flaky };
}

/**
 * @param {readonly string[]} specs
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ code: number, results: Results }>} without results if mocha itself has failed
 */
async function runMocha(specs, env) {
  const lanes = Math.min(Math.max(Number(options.lanes), options.record ? 2 : 1), specs.length);
  const parallel = lanes > 1 ? ["--parallel", "--jobs", String(lanes)] : [];
  rmSync(resultsFile, { force: true });
  const mocha = spawn("mocha", [...parallel, "--reporter", resolve("test/support/mocha/reporter.ts"), ...specs], {
    env,
    stdio: "inherit",
  });
  const interrupt = () => mocha.kill("SIGINT");
  const terminate = () => mocha.kill("SIGTERM");
  process.on("SIGINT", interrupt).on("SIGTERM", terminate);
  const code = await new Promise((done, reject) => {
    mocha.once("error", reject);
    mocha.once("close", (code) => done(code ?? 1));
  });
  process.off("SIGINT", interrupt).off("SIGTERM", terminate);
  return { code, results: existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {} };
}

/**
 * Runs the checks one after the other, with a low priority so that they use the time in which the tests wait.
 * @returns {Promise<string>} the output of those that failed, empty if none did
 */
async function runChecks() {
  const child = spawn(process.execPath, ["script/check.mjs", "--lanes", "1"], { stdio: ["ignore", "pipe", "pipe"] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const ended = new Promise((done) => child.once("close", done));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0) return "";
  console.log(`\nA check has failed:\n${output}${errors}`); // It is known before the tests end.
  return `${output}${errors}`;
}

/**
 * Prints the numbers of tests as mocha does, after the checks that failed.
 * @param {{ code: number, results: Results, flaky: readonly string[] }} outcome
 * @param {string} checks
 */
function printSummary({ code, results, flaky }, checks) {
  const seconds = Math.round((performance.now() - began) / 1000);
  const counts = Object.values(results);
  const passed = counts.reduce((sum, { passed }) => sum + passed, 0);
  const failed = counts.reduce((sum, { failed }) => sum + failed, 0);
  if (checks !== "") console.log(`The checks have failed:\n${checks.trimEnd()}\n`);
  for (const file of flaky) console.log(`flaky: ${file}`);
  console.log(`  ${passed} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`);
  if (failed > 0) console.log(`  ${failed} failing`);
  if (code !== 0 && failed === 0) console.log("  mocha itself has failed: its message is above");
  console.log("");
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
