/**
 * Writes sbom.json, a CycloneDX bill of materials of the packages that production depends on. `npm sbom --omit dev`
 * also omits every package that a development package uses too, so this script asks npm about a project that has only
 * what the dependencies reach. Optional peers, such as typescript, do not count.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { START_ONLY } from "./startOnly.mjs";

const { devDependencies, ...project } = JSON.parse(readFileSync("package.json", "utf8"));
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { devDependencies: _, ...root } = lock.packages[""];
for (const name of START_ONLY) for (const { dependencies } of [project, root]) delete dependencies[name];

/** @type {Map<string, object>} entries of the lock file by path */
const reached = new Map([["", root]]);
for (const [path, entry] of reached) {
  for (const name of neededBy(entry)) {
    const found = find(path, name);
    if (found) reached.set(found, lock.packages[found]);
  }
}
// An override may take its version from a development package.
const overrides = JSON.parse(JSON.stringify(project.overrides), (_, value) =>
  typeof value === "string" && value.startsWith("$") ? (devDependencies[value.slice(1)] ?? value) : value,
);

// npm names the subject of the document after the folder.
const dir = join(mkdtempSync(join(tmpdir(), "signalbox-sbom-")), project.name);
try {
  mkdirSync(dir);
  writeFileSync(join(dir, "package.json"), JSON.stringify({ ...project, overrides }));
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ ...lock, packages: Object.fromEntries(reached) }));
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"];
  writeFileSync("sbom.json", execFileSync("npm", args, { cwd: dir, maxBuffer: 64 * 1024 * 1024 }));
} finally {
  rmSync(dirname(dir), { recursive: true });
}

/** @param {any} entry */
function neededBy({ dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/**
 * Returns the path of the package that a name resolves to from the package at a path: the nearest one.
 * @param {string} path @param {string} name @returns {string | undefined}
 */
function find(path, name) {
  const found = path === "" ? `node_modules/${name}` : `${path}/node_modules/${name}`;
  if (found in lock.packages) return found;
  return path === "" ? undefined : find(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name);
}
