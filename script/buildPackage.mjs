/**
 * Builds the npm package `signalbox` in dist/package and packs it:
 *
 *   node script/buildPackage.mjs [DIRECTORY]      (signalbox-X.Y.Z.tgz in this directory, by default the clone)
 *
 * The package contains JavaScript instead of TypeScript, because Node does not run TypeScript below node_modules.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Everything that the package contains, besides package.json. The compiled files of src are in `lib`. */
const CONTENTS = ["lib", "dist/dashboard", "dist/guide", "README.md", "CHANGELOG.md", "LICENSE"];

const root = join(import.meta.dirname, "..");
const out = join(root, "dist", "package");

rmSync(out, { recursive: true, force: true });
compile("tsconfig.package.json", out);
renameSync(join(out, "src"), join(out, "lib"));
compile("tsconfig.packageTypes.json", join(out, "lib"));
for (const path of declarations()) useJavaScriptNames(path);
chmodSync(join(out, "lib", "cli", "main.js"), 0o755);
await import("./build.mjs");
for (const path of CONTENTS.filter((one) => existsSync(join(root, one)))) {
  cpSync(join(root, path), join(out, path), { recursive: true });
}
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
process.exitCode = npm(["pack", "--loglevel=error", "--pack-destination", resolve(process.argv[2] ?? root)], out);

/** @param {string} config the file in script @param {string} outDir */
function compile(config, outDir) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "-p", join(import.meta.dirname, config), "--outDir", outDir];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

function declarations() {
  const names = readdirSync(join(out, "lib"), { recursive: true }).map(String);
  return names.filter((name) => name.endsWith(".d.ts")).map((name) => join(out, "lib", name));
}

/** The compiler keeps `.ts` in the imports of declarations, which older compilers do not accept. @param {string} path */
function useJavaScriptNames(path) {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/"(\.\.?\/[\w/]+)\.ts"/g, '"$1.js"'));
}

/** The manifest of the clone with the paths of the compiled files, without what is for development alone. */
function manifest() {
  const { name, version, description, license, type, dependencies, optionalDependencies, ...ofClone } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const engines = { node: ofClone.engines.node };
  return {
    ...{ name, version, description, license, type, engines },
    keywords: ["job", "progress", "webhook", "agent", "queue", "self-hosted"],
    bin: { signalbox: compiled(ofClone.bin.signalbox) },
    exports: Object.fromEntries(Object.entries(ofClone.exports).map(([key, path]) => [key, entry(path)])),
    files: CONTENTS,
    dependencies,
    optionalDependencies,
  };
}

/** @param {string} path */
function compiled(path) {
  return path.replace(/^(\.\/)?src\/(.*)\.ts$/, "./lib/$2.js");
}

/** @param {string} path */
function entry(path) {
  const file = compiled(path);
  return file === path ? path : { types: file.replace(/\.js$/, ".d.ts"), default: file };
}

/** @param {readonly string[]} args @param {string} cwd @returns {number} the exit code */
function npm(args, cwd) {
  return spawnSync("npm", args, { cwd, stdio: "inherit" }).status ?? 1;
}
