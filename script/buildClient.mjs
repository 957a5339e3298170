/**
 * Builds the npm package `signalbox` with `signalbox/client`, for `npm publish` or `npm pack`:
 *
 *   node script/buildClient.mjs [DIRECTORY]      (dist/client by default)
 *
 * In this clone `signalbox/client` is the TypeScript source. Node does not run TypeScript under node_modules, so the
 * package contains JavaScript with declarations.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = join(import.meta.dirname, "..");
const out = resolve(process.argv[2] ?? join(root, "dist", "client"));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "src", "client"), "--outDir", out], {
  stdio: "inherit",
});
if (status !== 0) process.exit(1);

// tsc keeps .ts in the imports of declarations, which older compilers do not accept.
for (const name of readdirSync(out).filter((file) => file.endsWith(".d.ts"))) {
  const text = readFileSync(join(out, name), "utf8");
  writeFileSync(join(out, name), text.replaceAll(/"(\.\/\w+)\.ts"/g, '"$1.js"'));
}

const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const manifest = {
  ...{ name, version, license, type: "module", sideEffects: false },
  description: "Reports on jobs and steps to Signalbox, and watches them",
  engines: { node: ">=20" },
  exports: {
    "./client": { types: "./client.d.ts", default: "./client.js" },
    "./package.json": "./package.json",
  },
};
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync(join(root, "LICENSE"), join(out, "LICENSE"));
cpSync(join(root, "docs", "reference", "client.md"), join(out, "README.md"));
