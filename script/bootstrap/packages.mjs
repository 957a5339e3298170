import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isExecutable, run, systemPath } from "../../src/cli/start/programs/run.mjs";
import { SetupError } from "../../src/cli/start/programs/setupError.mjs";

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

/** Installs the npm packages of package-lock.json. */
export const packages = {
  /** @param {import("./steps.mjs").Context} context */
  isDone({ root }) {
    return isInstalled(root) && isExecutable(join(root, "node_modules", ".bin", "node"));
  },

  /** @param {import("./steps.mjs").Context} context */
  async run(context) {
    const { root, progress } = context;
    progress.begin("Installing packages from the npm registry (npm ci)");
    const quiet = ["--include=dev", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    const retries = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
    /** @param {readonly string[]} command */
    const npm = (command) =>
      run("npm", [...command, ...quiet, ...retries], {
        cwd: root,
        // npm replaces node_modules, so it must not run on the Node inside it.
        env: { PATH: systemPath(), MONGOMS_DISABLE_POSTINSTALL: "1", SCARF_ANALYTICS: "false" },
        watch: () => progress.tick(),
      });
    let { code, stderr } = await npm(["ci"]);
    if (/EUSAGE/.test(stderr)) {
      // A registry mirror that lacks the builds for other systems makes the lock file look incomplete to npm ci.
      ({ code, stderr } = await npm(["install", "--no-save"]));
    }
    if (code === 127) throw new SetupError("There is no npm on PATH: install the one that belongs to Node.");
    if (code !== 0) throw new SetupError(`The packages cannot be installed: ${explain(stderr)}.`);
    if (!this.isDone(context)) {
      throw new SetupError("npm ci has not installed all that package-lock.json names: run `npm ci` to see why.");
    }
    progress.end("Packages installed.");
  },
};

/** @param {string} stderr */
function explain(stderr) {
  const known = REASONS.find(([pattern]) => pattern.test(stderr))?.[1];
  const first = stderr.match(/^npm error (?!code|errno)(.+)$/m)?.[1];
  return known ?? `npm ci failed (${first ?? "no reason given"}); run it alone to see more`;
}

/**
 * npm writes node_modules/.package-lock.json as the last step of an install. A manual install is equally valid, so the
 * two lists are compared, instead of a stamp of this script.
 * @param {string} root
 */
function isInstalled(root) {
  const wanted = readPackages(join(root, "package-lock.json"));
  const present = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === "" || optional || present[path]?.version === version,
  );
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, optional?: boolean }> | undefined}
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined; // A missing or truncated list means that nothing is installed.
  }
}
