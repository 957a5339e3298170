/**
 * Runs every test: the folders of test/ as runs of mocha of their own, two at a time where there is more than one core, the
 * longest first. Each run starts servers of its own. What a run prints comes when it is over, so that runs do not mix;
 * the failures come once more at the very end, where they are found. What is compiled is kept, which halves the time that each
 * of the many processes takes to start. Ends with 1 when any of them fails.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";

/** Those that take longest; the others follow by their names. */
const LONGEST = ["e2e", "faults", "gmail", "examples", "dashboard", "cli", "channels"];
const AT_ONCE = Math.min(2, availableParallelism());
const env = { NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled"), ...process.env };

const entries = readdirSync("test", { withFileTypes: true });
const folders = entries.filter((one) => one.isDirectory() && hasTests(one.name)).map(({ name }) => name);
/** @param {string} name */
const rank = (name) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length);
const waiting = [
  ...folders.sort((one, other) => rank(one) - rank(other)).map((name) => `test/${name}/**/*.test.ts`),
  "test/*.test.ts",
];

/**
 * The closing lines of the runs that failed.
 * @type {string[]}
 */
const failures = [];

/** @param {string} folder */
function hasTests(folder) {
  return readdirSync(`test/${folder}`, { recursive: true }).some((file) => String(file).endsWith(".test.ts"));
}

/**
 * @param {string} spec
 * @returns {Promise<void>}
 */
function run(spec) {
  const started = performance.now();
  return new Promise((done) => {
    const mocha = spawn("mocha", [spec], { env, stdio: ["ignore", "pipe", "pipe"] });
    /** @type {Buffer[]} */
    const printed = [];
    for (const output of [mocha.stdout, mocha.stderr]) output.on("data", (chunk) => printed.push(chunk));
    mocha.on("error", (error) => printed.push(Buffer.from(`${error.message}\n`)));
    mocha.on("close", (code, signal) => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      const end = code === 0 ? "" : `, ended with ${signal ?? code}`;
      const text = Buffer.concat([...printed, Buffer.from(`${spec}: ${seconds} s${end}\n\n`)]).toString();
      process.stdout.write(text);
      if (code !== 0) failures.push(ofFailures(text));
      done();
    });
  });
}

/**
 * What mocha says of the failures, without the line that counts them; of a run that ended before that, its last lines.
 * @param {string} text what a run has printed
 */
function ofFailures(text) {
  const lines = text.split("\n");
  const counted = lines.findLastIndex((line) => /^\W*(\[\d+m)?\s*\d+ failing/.test(line));
  return lines.slice(counted < 0 ? -40 : counted + 1).join("\n");
}

async function runNext() {
  for (let spec = waiting.shift(); spec; spec = waiting.shift()) await run(spec);
}

await Promise.all(Array.from({ length: AT_ONCE }, runNext));
if (failures.length > 0) {
  process.stdout.write(`What failed, once more:\n${failures.join("\n")}`);
  process.exitCode = 1;
}
