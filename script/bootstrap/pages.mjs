import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/cli/start/programs/run.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { STAMP, sourcesOf } from "./sources.mjs";

/**
 * Builds the dashboard at dist/dashboard if its sources have changed.
 * @type {import("./steps.mjs").Step & { isDone(context: { root: string }): boolean }}
 */
export const dashboard = {
  isDone({ root }) {
    try {
      return readFileSync(join(root, "dist", "dashboard", STAMP), "utf8") === sourcesOf(root);
    } catch {
      return false; // It is not built yet.
    }
  },

  async run({ root, progress }) {
    progress.begin("Building the dashboard");
    const { code } = await run(process.execPath, [join(root, "script", "buildDashboard.mjs")], {
      cwd: root,
      watch: () => progress.tick(),
    });
    if (code !== 0) {
      throw new SetupError("The dashboard cannot be built: run `npm run build:dashboard` to see why.");
    }
    progress.end("The dashboard is built.");
  },
};
