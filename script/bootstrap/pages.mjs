import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/cli/start/programs/run.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { STAMP, sourcesOf } from "./sources.mjs";

/** Builds the dashboard at dist/dashboard if its sources have changed. */
export const dashboard = buildStep("dashboard", "buildDashboard.mjs");

/** Builds the guide at dist/guide if its sources have changed. */
export const guide = buildStep("guide", "buildGuide.mjs");

/**
 * @param {"dashboard" | "guide"} name
 * @param {string} script
 * @returns {import("./steps.mjs").Step & { isDone(context: { root: string }): boolean }}
 */
function buildStep(name, script) {
  return {
    isDone({ root }) {
      try {
        return readFileSync(join(root, "dist", name, STAMP), "utf8") === sourcesOf(root, name);
      } catch {
        return false; // It is not built yet.
      }
    },

    async run({ root, progress }) {
      progress.begin(`Building the ${name}`);
      const { code } = await run(process.execPath, [join(root, "script", script)], {
        cwd: root,
        watch: () => progress.tick(),
      });
      if (code !== 0) throw new SetupError(`The ${name} cannot be built: run \`npm run build:${name}\` to see why.`);
      progress.end(`The ${name} is built.`);
    },
  };
}
