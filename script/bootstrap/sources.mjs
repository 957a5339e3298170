import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The file of the built dashboard with the digest of its sources. */
export const STAMP = "sources";

/** The files that the build depends on; the lock file contains the versions of the build tools. */
const PLACES = [
  "src/dashboard",
  "src/client",
  "package-lock.json",
  "script/buildDashboard.mjs",
  "script/vite.config.ts",
];

/**
 * @param {string} root
 * @returns {string} a digest of all sources of the dashboard
 */
export function sourcesOf(root) {
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
