import { join } from "node:path";
import { Progress } from "../../src/cli/start/programs/progress.mjs";
import { endChildren } from "../../src/cli/start/programs/run.mjs";
import { removeScratch, removeStaleScratch } from "../../src/cli/start/programs/scratch.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { linkPrograms } from "../linkPrograms.mjs";
import { chromium } from "./chromium.mjs";
import { node } from "./node.mjs";
import { packages, sdks } from "./packages.mjs";
import { dashboard } from "./pages.mjs";
import { pythonPackages } from "./pythonPackages.mjs";
import { mongod, redis } from "./servers.mjs";

/**
 * @typedef {object} Context
 * @property {string} root the clone
 * @property {string} tools the directory for programs, git-ignored
 * @property {"start" | "package" | "release" | "test" | "slow"} mode for a run, to build the package, to make the files of
 *   a release, for the first tier of tests, or for both tiers
 * @property {Progress} progress
 * @property {Promise<void>} [installed] resolves when the packages are installed
 *
 * @typedef {object} Step
 * @property {(context: Context) => boolean | Promise<boolean>} isDone fast; true if there is nothing to do
 * @property {(context: Context) => Promise<void>} run throws a SetupError; leaves no partial result that
 *   isDone accepts
 */

/**
 * Sequences of steps that run beside each other; a step may use the results of earlier ones of its sequence. Those of
 * the first begin when the packages are installed.
 * @type {readonly (readonly Step[])[]}
 */
const SEQUENCES = [[sdks, dashboard], [node], [mongod, redis], [pythonPackages, chromium]];

/** The sequences of the modes that run no tests; the first of each as above. @type {Partial<Record<Context["mode"], typeof SEQUENCES>>} */
const FOR_FILES = { package: [[dashboard], [node]], release: [[dashboard], [node], [pythonPackages]] };

/**
 * @param {Context["mode"]} mode
 * @returns {Promise<number>} the exit code
 */
export async function bootstrap(mode) {
  const root = join(import.meta.dirname, "..", "..");
  const tools = join(root, ".tools");
  const begin = () => ({ root, tools, mode, progress: new Progress(process.stdout) });
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    process.on(signal, () => {
      Progress.clear(process.stdout);
      endChildren();
      removeScratch(tools);
      process.exit(code);
    });
  }
  try {
    const installed = carryOut([packages], begin());
    const [withPackages = [], ...others] = FOR_FILES[mode] ?? SEQUENCES;
    await Promise.all([
      installed.then(() => carryOut(withPackages, begin())),
      ...others.map((steps) => carryOut(steps, { ...begin(), installed })),
    ]);
    linkPrograms(root);
    return 0;
  } catch (error) {
    endChildren();
    Progress.clear(process.stdout);
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
