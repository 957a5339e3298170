import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The file of a build that holds what it was made from. */
export const DASHBOARD_STAMP = "sources";

/** What a build depends on; the lock file names the versions of what builds it. */
const PLACES = [
  "src/dashboard",
  "src/client",
  "package-lock.json",
  "script/buildDashboard.mjs",
  "script/vite.config.ts",
];

/**
 * @param {string} root
 * @returns {string} a digest of all that the dashboard is built from
 */
export function dashboardSources(root) {
  const hash = createHash("sha256");
  for (const path of PLACES.flatMap((place) => filesAt(root, place))) {
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
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}
