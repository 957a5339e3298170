import { join } from "node:path";
import { placeFirst } from "../../src/cli/start/programs/binary.mjs";
import { findOnPath, isExecutable, run } from "../../src/cli/start/programs/run.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";

/** @typedef {import("./steps.mjs").Context} Context */

const PATIENCE = ["-o", "Acquire::Retries=2", "-o", "DPkg::Lock::Timeout=60"];

/** Debian's package of Chromium without windows: a page costs about half of what it costs in the whole browser. */
const SHELL = "chromium-headless-shell";
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

/** Provides .tools/bin/chromium for the dashboard's tests: an installed one, else Debian's package. */
export const chromium = {
  /** @param {Context} context */
  isDone({ tools, mode }) {
    return mode === "start" || isExecutable(join(tools, "bin", "chromium"));
  },

  /** @param {Context} context */
  async run(context) {
    const refusals = await placeFirst(context, { name: "chromium", title: "Chromium", minimum: [120, 0] }, [
      ...[SHELL, ...BROWSERS].map((name) => async () => findOnPath(name)),
      installFromDebian,
    ]);
    if (refusals) {
      throw new SetupError(
        `The tests of the dashboard need Chromium, and there is none (${refusals.join("; ")}): install Chromium 120 or later, on Debian with \`apt-get install chromium\`.`,
      );
    }
  },
};

/** @param {import("../../src/cli/start/programs/binary.mjs").Workplace} context */
async function installFromDebian({ progress }) {
  if (!findOnPath("apt-get")) throw new SetupError("there is no apt-get to install it with");
  if (process.getuid?.() !== 0) throw new SetupError("only root may install it with apt-get");
  progress.begin("Installing Chromium from Debian's packages (for the tests)");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const watch = () => progress.tick();
  await run("apt-get", ["update", "-qq", ...PATIENCE], { env, watch }); // Continues after an error, because an old package list may suffice.
  let refusal = "";
  for (const name of [SHELL, "chromium"]) {
    const install = ["install", "-y", "-qq", "--no-install-recommends", ...PATIENCE, name, "fonts-liberation"];
    const { code, stderr } = await run("apt-get", install, { env, watch });
    if (code === 0) return findOnPath(name);
    refusal = stderr.match(/^E: (.*)$/m)?.[1] ?? String(code);
  }
  throw new SetupError(`apt-get cannot install it: ${refusal}`);
}
