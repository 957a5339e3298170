/**
 * Builds the npm package `signalbox-client`, for `npm publish` or `npm pack`:
 *
 *   node script/buildClient.mjs [DIRECTORY]      (dist/client by default)
 *
 * The package has the sources of `signalbox/client` as minified JavaScript with source maps and declarations. An import of
 * the package loads client.js alone. The other files contain what the sources import when it is first used; for these
 * files client.js has further exports, whose names are one letter.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { transform } from "@swc/core";
import { build } from "vite";
import { repositoryFields } from "./publishedPlace.mjs";

const root = join(import.meta.dirname, "..");
const out = resolve(process.argv[2] ?? join(root, "dist", "client"));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeDeclarations();
for (const { fileName, code, map } of await bundle()) await writeMinified(fileName, code, map);
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
cpSync(join(root, "LICENSE"), join(out, "LICENSE"));
cpSync(join(root, "clients", "javascript", "README.md"), join(out, "README.md"));

function writeDeclarations() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "-p", join(root, "src", "client"), "--emitDeclarationOnly", "--outDir", out];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  // tsc keeps .ts in the imports of declarations, which older compilers do not accept.
  for (const name of readdirSync(out, { recursive: true }).map(String)) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(out, name), "utf8");
    writeFileSync(join(out, name), text.replaceAll(/"(\.{1,2}\/[\w/]+)\.ts"/g, '"$1.js"'));
  }
}

async function bundle() {
  /** @param {string} path */
  const sourcemapPathTransform = (path) => basename(path);
  const output = { entryFileNames: "[name].js", chunkFileNames: "[name].js", sourcemapPathTransform };
  const built = await build({
    configFile: false,
    logLevel: "warn",
    root,
    build: {
      write: false,
      minify: false,
      sourcemap: true,
      target: "es2022",
      lib: { entry: join(root, "src", "client", "client.ts"), formats: ["es"] },
      rolldownOptions: { output, preserveEntrySignatures: "allow-extension" },
    },
  });
  const formats = /** @type {import("vite").Rolldown.RolldownOutput[]} */ (built);
  return formats.flatMap((format) => format.output.filter((file) => file.type === "chunk"));
}

/**
 * Minifies, which Vite does not do for libraries.
 * @param {string} name
 * @param {string} code
 * @param {object | null} map
 */
async function writeMinified(name, code, map) {
  const minified = await transform(code, {
    jsc: { target: "es2022", minify: { module: true, mangle: true, compress: { passes: 3, keep_fargs: false } } },
    isModule: true,
    minify: true,
    sourceMaps: true,
    inputSourceMap: JSON.stringify(map),
  });
  writeFileSync(join(out, name), `${minified.code.trimEnd()}\n//# sourceMappingURL=${name}.map\n`);
  writeFileSync(join(out, `${name}.map`), String(minified.map));
}

function manifest() {
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    name: "signalbox-client",
    version,
    license,
    type: "module",
    sideEffects: false,
    description: "Reports on jobs and steps to Signalbox, and watches them",
    keywords: ["signalbox", "job", "progress"],
    engines: { node: ">=20" },
    ...repositoryFields(),
    exports: { ".": { types: "./client.d.ts", default: "./client.js" }, "./package.json": "./package.json" },
  };
}
