/**
 * Runs the checks of the sources, the scripts `check:…` of package.json, as many at once as the machine has cores or
 * `--lanes <n>` says: `npm run check`. `npm run check:types` runs one alone. Prints the output of those that fail, and exits with
 * 1 if one does.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

const PREFIX = "check:";

const { values } = parseArgs({ options: { lanes: { type: "string", default: String(availableParallelism()) } } });

/** @type {{ scripts: Record<string, string> }} */
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const waiting = Object.entries(scripts).filter(([name]) => name.startsWith(PREFIX));

await Promise.all(Array.from({ length: Number(values.lanes) }, runNext));

/** Runs checks until none waits. */
async function runNext() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, command] = next;
    const child = spawn("sh", ["-c", `(${command}) 2>&1`], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((done) => child.once("close", done));
    const output = await text(child.stdout);
    if ((await ended) === 0) continue;
    console.error(`${output}\nnpm run ${name} has failed.\n`);
    process.exitCode = 1;
  }
}
