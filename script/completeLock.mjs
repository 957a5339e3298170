/**
 * Adds to package-lock.json the optional packages for other systems that npm omitted because the registry does not
 * provide them. Without them `npm ci` considers the lock file incomplete. Run it after `npm install` behind such a
 * registry; with a complete one it adds nothing. The entries have a version and no integrity, which npm fills in on
 * a system that installs them.
 */
import { readFileSync, writeFileSync } from "node:fs";

const PATH = "package-lock.json";
const SYSTEMS = ["android", "darwin", "freebsd", "openharmony", "win32", "linux"];
const PROCESSORS = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x"];

const lock = JSON.parse(readFileSync(PATH, "utf8"));
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const places = [`node_modules/${name}`, `${path}/node_modules/${name}`];
    if (places.some((place) => place in lock.packages)) continue;
    const os = SYSTEMS.find((system) => name.includes(system));
    const cpu = PROCESSORS.find((processor) => new RegExp(`-${processor}(-|$)`).test(name));
    if (!os || !cpu) throw new Error(`${name}: for which system is it?`);
    lock.packages[`node_modules/${name}`] = {
      version: String(range).replace(/^[\^~]/, ""),
      cpu: [cpu],
      ...(entry.dev && { dev: true }),
      ...(name.includes("musl") && { libc: ["musl"] }),
      optional: true,
      os: [os],
    };
    added.push(name);
  }
}
const { "": project, ...packages } = lock.packages;
const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = { "": project, ...Object.fromEntries(sorted) };
writeFileSync(PATH, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} packages added`);
