import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run, systemPath } from "../../src/cli/start/programs/run.mjs";
import { makeScratch } from "../../src/cli/start/programs/scratch.mjs";
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
async function install({ progress, tools }, folder, development) {
  progress.begin("Installing packages from the npm registry");
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  options.push("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000");
  options.push(development ? "--include=dev" : "--omit=dev");
  /**
   * @param {readonly string[]} command
   * @param {string} [cwd]
   */
  const npm = (command, cwd = folder) =>
    run("npm", command, { cwd, env: { PATH: systemPath() }, watch: () => progress.tick() });
  const add = ["install", "--no-save", ...options]; // `npm ci` would remove the packages of a running service.
  const isFresh = !existsSync(join(folder, "node_modules"));
  let { code, stdout, stderr } = await npm(isFresh ? ["config", "get", "registry"] : add);
  if (isFresh && code === 0) {
    const scratch = prepareInstall(folder, tools, stdout.trim());
    ({ code, stderr } = await npm(["ci", ...options], scratch));
    if (code === 0) renameSync(join(scratch, "node_modules"), join(folder, "node_modules"));
  }
  if (/EUSAGE|E404/.test(stderr)) {
    // A registry mirror that lacks the builds for other systems makes the lock file look incomplete to npm ci, and one
    // may keep the packages at other addresses.
    ({ code, stderr } = await npm(add));
  }
  if (code === 127) throw new SetupError("There is no npm on PATH: install the one that belongs to Node.");
  if (code !== 0) throw new SetupError(`The packages cannot be installed: ${explain(stderr)}.`);
  progress.end("Packages installed.");
}

/**
 * Copies what npm reads of a folder, and adds the address of each package to the lock file. The repository names no
 * registry; without the addresses npm requests the list of versions of each package first, which takes a third of the
 * time of an installation.
 * @param {string} folder
 * @param {string} tools
 * @param {string} registry
 * @returns {string} a scratch directory to install in
 */
function prepareInstall(folder, tools, registry) {
  const scratch = makeScratch(tools);
  for (const name of ["package.json", ".npmrc"]) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(scratch, name));
  }
  const base = registry.replace(/\/*$/, "/");
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  for (const [path, entry] of Object.entries(lock.packages)) {
    const name = entry.name ?? path.split("node_modules/").at(-1);
    if (path !== "") entry.resolved ??= new URL(`${name}/-/${basename(name)}-${entry.version}.tgz`, base).href;
  }
  writeFileSync(join(scratch, "package-lock.json"), JSON.stringify(lock));
  return scratch;
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
