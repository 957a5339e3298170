/**
 * Builds the npm package `signalbox` in dist/package and packs it:
 *
 *   node script/buildPackage.mjs [DIRECTORY]      (signalbox-X.Y.Z.tgz in this directory, by default the clone)
 *
 * The package contains JavaScript instead of TypeScript, because Node does not run TypeScript below node_modules.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { repositoryFields, withAbsoluteLinks } from "./publishedPlace.mjs";
import { START_ONLY } from "./startOnly.mjs";

/** Everything that the package contains, besides package.json. The compiled files of src are in `lib`. */
const CONTENTS = ["lib", "dist/dashboard", "docs", "README.md", "CHANGELOG.md", "LICENSE"];

/** Packages of the Gmail listener, 14 MB with what they need. Without them, its commands say how to install them. */
const OPTIONAL = ["@googleapis/gmail", "google-auth-library"];

/**
 * Packages of 43 MB, of which the service loads these files alone, 6 MB. The package contains them, so that they are not
 * installed besides. They need nothing but each other.
 */
const BUNDLED = {
  "@modelcontextprotocol/core": /(?<!\.d)\.mjs$/,
  "@modelcontextprotocol/server": /(?<!\.d)\.mjs$/,
  openai: /\.mjs$/,
  typebox: /(?<!\.d)\.mjs$/,
  zod: /(?<!\.d)\.js$/,
};

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
for (const [name, files] of Object.entries(BUNDLED)) bundle(name, files);
const built = manifest();
writeFileSync(join(out, "package.json"), `${JSON.stringify(built, null, 2)}\n`);
const readme = join(out, "README.md");
writeFileSync(readme, withAbsoluteLinks(readFileSync(readme, "utf8"), built.version));
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

/** @param {string} name @param {RegExp} files */
function bundle(name, files) {
  const isWanted = (/** @type {string} */ path) =>
    statSync(path).isDirectory() || files.test(path) || /(^package\.json|^license)$/i.test(basename(path));
  cpSync(join(root, "node_modules", name), join(out, "node_modules", name), { recursive: true, filter: isWanted });
}

/** The manifest of the clone with the paths of the compiled files, without what is for development alone. */
function manifest() {
  const { name, version, description, license, type, dependencies, ...ofClone } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const isOptional = (/** @type {[string, string]} */ [name]) => OPTIONAL.includes(name);
  /** @type {[string, string][]} */
  const all = Object.entries(dependencies).filter(([one]) => !START_ONLY.includes(one));
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: ">=22.18" },
    ...repositoryFields(),
    keywords: ["job", "progress", "webhook", "agent", "queue", "self-hosted"],
    bin: { signalbox: "./lib/cli/main.js" },
    exports: Object.fromEntries(Object.entries(ofClone.exports).map(([key, path]) => [key, entry(path)])),
    files: CONTENTS,
    dependencies: Object.fromEntries(all.filter((one) => !isOptional(one))),
    // npm installs optionalDependencies by default, and optional peers only on request.
    peerDependencies: Object.fromEntries(all.filter(isOptional).map(([one, at]) => [one, `^${at}`])),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((one) => [one, { optional: true }])),
    // Packages that only these need are bundled with them.
    bundleDependencies: Object.keys(BUNDLED).filter((one) => one in dependencies),
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
