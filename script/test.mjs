/**
 * Runs every test: the folders of test/ as runs of mocha of their own, two at a time where there is more than one core, the
 * longest first. Each run starts servers of its own. What a run prints comes when it is over, so that runs do not mix.
 * Ends with 1 when any of them fails.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Those that take longest; the others follow by their names. */
const LONGEST = ["e2e", "gmail", "examples", "dashboard", "cli", "channels"];
const AT_ONCE = Math.min(2, availableParallelism());

const entries = readdirSync("test", { withFileTypes: true });
const folders = entries.filter((one) => one.isDirectory() && hasTests(one.name)).map(({ name }) => name);
/** @param {string} name */
const rank = (name) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length);
const waiting = [
  ...folders.sort((one, other) => rank(one) - rank(other)).map((name) => `test/${name}/**/*.test.ts`),
  "test/*.test.ts",
];

/** @param {string} folder */
function hasTests(folder) {
  return readdirSync(`test/${folder}`, { recursive: true }).some((file) => String(file).endsWith(".test.ts"));
}

/**
 * @param {string} spec
 * @returns {Promise<boolean>} whether all of its tests passed
 */
function run(spec) {
  const started = performance.now();
  return new Promise((resolve) => {
    const mocha = spawn("mocha", [spec], { stdio: ["ignore", "pipe", "pipe"] });
    /** @type {Buffer[]} */
    const printed = [];
    for (const output of [mocha.stdout, mocha.stderr]) output.on("data", (chunk) => printed.push(chunk));
    mocha.on("error", (error) => printed.push(Buffer.from(`${error.message}\n`)));
    mocha.on("close", (code, signal) => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      const end = code === 0 ? "" : `, ended with ${signal ?? code}`;
      process.stdout.write(Buffer.concat([...printed, Buffer.from(`${spec}: ${seconds} s${end}\n\n`)]));
      resolve(code === 0);
    });
  });
}

async function runNext() {
  let ok = true;
  for (let spec = waiting.shift(); spec; spec = waiting.shift()) ok = (await run(spec)) && ok;
  return ok;
}

const passed = await Promise.all(Array.from({ length: AT_ONCE }, runNext));
process.exitCode = passed.every(Boolean) ? 0 : 1;
