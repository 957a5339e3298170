import { join } from "node:path";
import { Progress } from "../../src/cli/start/programs/progress.mjs";
import { endChildren } from "../../src/cli/start/programs/run.mjs";
import { removeScratch, removeStaleScratch } from "../../src/cli/start/programs/scratch.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { chromium } from "./chromium.mjs";
import { packages, sdks } from "./packages.mjs";
import { dashboard } from "./pages.mjs";
import { pythonPackages } from "./pythonPackages.mjs";
import { mongod, redis } from "./servers.mjs";

/**
 * @typedef {object} Context
 * @property {string} root the clone
 * @property {string} tools the directory for programs, git-ignored
 * @property {"start" | "test" | "slow"} mode for a run, for the first tier of tests, or for both tiers
 * @property {Progress} progress
 *
 * @typedef {object} Step
 * @property {(context: Context) => boolean | Promise<boolean>} isDone fast; true if there is nothing to do
 * @property {(context: Context) => Promise<void>} run throws a SetupError; leaves no partial result that
 *   isDone accepts
 */

/**
 * Two concurrent sequences of steps; a step may use the results of earlier ones of its sequence. The second sequence is
 * for the tests and independent of the first.
 * @type {readonly (readonly Step[])[]}
 */
const SEQUENCES = [
  [packages, sdks, dashboard, mongod, redis],
  [pythonPackages, chromium],
];

/**
 * @param {Context["mode"]} mode
 * @returns {Promise<number>} the exit code
 */
export async function bootstrap(mode) {
  const root = join(import.meta.dirname, "..", "..");
  const tools = join(root, ".tools");
  const contexts = SEQUENCES.map(() => ({ root, tools, mode, progress: new Progress(process.stdout) }));
  const clear = () => {
    for (const { progress } of contexts) progress.clear();
  };
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    process.on(signal, () => {
      clear();
      endChildren();
      removeScratch(tools);
      process.exit(code);
    });
  }
  try {
    await Promise.all(contexts.map((context, i) => carryOut(SEQUENCES[i] ?? [], context)));
    return 0;
  } catch (error) {
    endChildren();
    clear();
    const sentence = SetupError.from(error)?.message;
    console.error(sentence ?? error);
    return 1;
  } finally {
    removeScratch(tools);
  }
}

/**
 * @param {readonly Step[]} steps
 * @param {Context} context
 */
async function carryOut(steps, context) {
  for (const step of steps) {
    if (await step.isDone(context)) continue;
    removeStaleScratch(context.tools);
    await step.run(context);
  }
}
