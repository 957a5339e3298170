import { join } from "node:path";
import { chromium } from "./chromium.mjs";
import { dashboard } from "./dashboard.mjs";
import { mongod } from "./mongod.mjs";
import { packages } from "./packages.mjs";
import { Progress } from "./progress.mjs";
import { redis } from "./redis.mjs";
import { endChildren } from "./run.mjs";
import { schemathesis } from "./schemathesis.mjs";
import { removeScratch, removeStaleScratch } from "./scratch.mjs";
import { SetupError } from "./setupError.mjs";

/**
 * @typedef {object} Context
 * @property {string} root the clone
 * @property {string} tools where programs are put, git-ignored
 * @property {"start" | "test"} mode
 * @property {Progress} progress
 *
 * @typedef {object} Step
 * @property {(context: Context) => boolean | Promise<boolean>} isDone quick, and true when there is nothing to do
 * @property {(context: Context) => Promise<void>} run throws a SetupError; leaves nothing half-made that isDone takes for done
 */

/** @type {readonly Step[]} in this order; a later one may use what an earlier one made */
const STEPS = [packages, dashboard, mongod, redis, schemathesis, chromium];

/**
 * @param {Context["mode"]} mode
 * @returns {Promise<number>} the exit code
 */
export async function bootstrap(mode) {
  const root = join(import.meta.dirname, "..", "..");
  const tools = join(root, ".tools");
  const context = { root, tools, mode, progress: new Progress(process.stdout) };
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    process.on(signal, () => {
      context.progress.clear();
      endChildren();
      removeScratch(tools);
      process.exit(code);
    });
  }
  try {
    for (const step of STEPS) {
      if (await step.isDone(context)) continue;
      removeStaleScratch(tools);
      await step.run(context);
    }
    return 0;
  } catch (error) {
    context.progress.clear();
    const sentence = SetupError.from(error)?.message;
    console.error(sentence ?? error);
    return 1;
  } finally {
    removeScratch(tools);
  }
}
