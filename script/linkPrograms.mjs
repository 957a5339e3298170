/**
 * Links two programs into node_modules/.bin, where the scripts of package.json and npx look first: `node`, which is the one that
 * script/bootstrap fetches where the machine's is too old, and `signalbox`. Without the second link npx installs the clone in
 * its own cache at each call. npm runs this file after each installation.
 */
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** Whether this Node runs TypeScript files. */
export function isNodeNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** @param {string} root the clone */
export function linkPrograms(root) {
  const bin = join(root, "node_modules", ".bin");
  const targets = {
    node: isNodeNewEnough() ? process.execPath : join("..", "..", ".tools", "bin", "node"),
    signalbox: join("..", "..", "src", "cli", "main.ts"),
  };
  mkdirSync(bin, { recursive: true });
  for (const [name, target] of Object.entries(targets)) {
    const link = join(bin, name);
    if (existsSync(link)) continue;
    rmSync(link, { force: true }); // a link to a program that is gone
    symlinkSync(target, link);
  }
}

if (import.meta.filename === realpathSync(process.argv[1] ?? "")) linkPrograms(join(import.meta.dirname, ".."));
