import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../src/cli/start/programs/run.mjs";
import { makeScratch } from "../../src/cli/start/programs/scratch.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { explainPip, PIP_ENV, PIP_PATIENCE, sizeOf } from "../../src/cli/start/programs/wheel.mjs";

const VERSION = "4.32.5";

/** Provides Schemathesis at .tools/python, with which the tests compare the API to its OpenAPI description. */
export const schemathesis = {
  /** @param {import("./steps.mjs").Context} context */
  isDone({ tools, mode }) {
    return mode !== "test" || existsSync(join(tools, "python", `schemathesis-${VERSION}.dist-info`));
  },

  /** @param {import("./steps.mjs").Context} context */
  async run({ tools, progress }) {
    progress.begin(`Installing schemathesis ${VERSION} from the Python package index (for the tests)`);
    const scratch = makeScratch(tools);
    const target = join(scratch, "python");
    const { code, stderr } = await run(
      "python3",
      ["-m", "pip", "install", "--quiet", ...PIP_PATIENCE, "--target", target, `schemathesis==${VERSION}`],
      { env: { ...PIP_ENV, TMPDIR: scratch }, watch: () => progress.tick(sizeOf(scratch)) },
    );
    if (code !== 0) {
      throw new SetupError(
        `The tests need schemathesis, and it cannot be installed (${explainPip(code, stderr)}): see that \`python3 -m pip\` works (Python 3.10 or later), then start again.`,
      );
    }
    const place = join(tools, "python");
    rmSync(place, { recursive: true, force: true });
    renameSync(target, place);
    progress.end(`schemathesis ${VERSION} is ready.`);
  },
};
