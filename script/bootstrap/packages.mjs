import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run, systemPath } from "../../src/cli/start/programs/run.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";

/** @typedef {import("./steps.mjs").Context} Context */

/** The folder of the tests that need packages of their own. */
const SDKS = "test/slow/sdks";

/** @type {readonly (readonly [RegExp, string])[]} npm's messages and their meanings */
const REASONS = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i,
    "the package registry cannot be reached: check the network (or the proxy) and start again",
  ],
  [/ENOSPC/, "the disk is full: free some space and start again"],
  [/EACCES|EPERM|EROFS/, "node_modules cannot be written: change its owner or its permissions and start again"],
  [
    /EINTEGRITY/,
    "a package is not the one that package-lock.json names: run `npm cache clean --force` and start again",
  ],
];

/**
 * Installs the npm packages that running needs, and for the tests those for development too. It adds what is missing and
 * removes nothing that another mode has installed.
 */
export const packages = {
  /** @param {Context} context */
  isDone({ root, mode }) {
    return isInstalled(root, mode !== "start");
  },

  /** @param {Context} context */
  async run(context) {
    await install(context, context.root, context.mode !== "start" || hasDevelopmentPackages(context.root));
    if (!this.isDone(context)) {
      throw new SetupError("npm has not installed all that package-lock.json names: run `npm ci` to see why.");
    }
  },
};

/** Installs the packages that only the tests of test/slow/sdks use, beside these tests. */
export const sdks = {
  /** @param {Context} context */
  isDone({ root, mode }) {
    return mode !== "slow" || isInstalled(join(root, SDKS), false);
  },

  /** @param {Context} context */
  async run(context) {
    await install(context, join(context.root, SDKS), false);
  },
};

/**
 * @param {Context} context
 * @param {string} folder
 * @param {boolean} development
 */
async function install({ progress }, folder, development) {
  progress.begin("Installing packages from the npm registry");
  const chosen = development ? ["--include=dev"] : ["--omit=dev"];
  const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const retries = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
  /** @param {readonly string[]} command */
  const npm = (command) =>
    run("npm", [...command, ...chosen, ...quiet, ...retries], {
      cwd: folder,
      env: { PATH: systemPath() },
      watch: () => progress.tick(),
    });
  const add = ["install", "--no-save"]; // `npm ci` would remove the packages of a running service.
  let { code, stderr } = await npm(existsSync(join(folder, "node_modules")) ? add : ["ci"]);
  if (/EUSAGE/.test(stderr)) {
    // A registry mirror that lacks the builds for other systems makes the lock file look incomplete to npm ci.
    ({ code, stderr } = await npm(add));
  }
  if (code === 127) throw new SetupError("There is no npm on PATH: install the one that belongs to Node.");
  if (code !== 0) throw new SetupError(`The packages cannot be installed: ${explain(stderr)}.`);
  progress.end("Packages installed.");
}

/** @param {string} stderr */
function explain(stderr) {
  const known = REASONS.find(([pattern]) => pattern.test(stderr))?.[1];
  const first = stderr.match(/^npm error (?!code|errno)(.+)$/m)?.[1];
  return known ?? `npm failed (${first ?? "no reason given"}); run \`npm ci\` to see more`;
}

/**
 * npm writes node_modules/.package-lock.json as the last step of an install. A manual install is equally valid, so the
 * two lists are compared, instead of a stamp of this script.
 * @param {string} folder
 * @param {boolean} development whether the packages for development are wanted too
 */
function isInstalled(folder, development) {
  const wanted = readPackages(join(folder, "package-lock.json"));
  const present = readPackages(join(folder, "node_modules", ".package-lock.json"));
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional, dev, devOptional }]) =>
      path === "" || optional || (!development && (dev || devOptional)) || present[path]?.version === version,
  );
}

/** @param {string} folder */
function hasDevelopmentPackages(folder) {
  return Object.values(readPackages(join(folder, "node_modules", ".package-lock.json")) ?? {}).some(({ dev }) => dev);
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, optional?: boolean, dev?: boolean, devOptional?: boolean }> | undefined}
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined; // A missing or truncated list means that nothing is installed.
  }
}
