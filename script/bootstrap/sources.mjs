import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The file of a build with the digest of its sources. */
export const STAMP = "sources";

/**
 * The files that each build depends on, by its folder in dist; the lock file contains the versions of the build tools.
 */
const PLACES = {
  dashboard: ["src/dashboard", "src/client", "package-lock.json", "script/buildDashboard.mjs", "script/vite.config.ts"],
  guide: ["docs", "src/dashboard/icon.svg", "package-lock.json", "script/buildGuide.mjs"],
};

/**
 * @param {string} root
 * @param {keyof typeof PLACES} build
 * @returns {string} a digest of all sources of the build
 */
export function sourcesOf(root, build) {
  const hash = createHash("sha256");
  for (const path of PLACES[build].flatMap((place) => filesAt(root, place))) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  }
  return hash.digest("hex");
}

/**
 * @param {string} root
 * @param {string} place
 * @returns {string[]}
 */
function filesAt(root, place) {
  if (/\.\w+$/.test(place)) return [place];
  return readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".temp")) // .temp is of a build under way
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}
