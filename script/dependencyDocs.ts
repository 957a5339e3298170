import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cellsAt, namesAt, requireSame, withRows } from "./docPage.ts";
import { START_ONLY } from "./startOnly.mjs";

/** An entry of package-lock.json. */
interface LockEntry {
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockEntry>>;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const IN_A_CLONE = "## Besides, in a clone";
const FOR_TESTS = "## For the tests";
const WEIGHTS = "| dependency | used for |";

/**
 * Renews what each dependency of the service weighs, with what only it needs, in docs/reference/dependencies.md. The page says
 * what each is used for, and which are used together.
 * @throws Error if the tables of the page do not name the packages of package.json
 */
export function dependencies(page: string): string {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Packages };
  const groups = cellsAt(page, WEIGHTS)
    .filter(([names = ""]) => names.startsWith("`"))
    .map(([names = "", purpose = ""]) => ({ names: names.slice(1, -1).split("`, `"), purpose }));
  const named = groups.flatMap(({ names }) => names);
  const forTests = Object.keys(devDependencies).filter((name) => !name.startsWith("@types/"));
  requireSame(`The table of "${IN_A_CLONE}"`, namesAt(page, IN_A_CLONE), START_ONLY);
  requireSame("The table of dependencies", [...named, ...START_ONLY], Object.keys(dependencies));
  requireSame(`The table of "${FOR_TESTS}"`, namesAt(page, FOR_TESTS), forTests);

  const all = installed(packages, named);
  const rows = groups.map(({ names, purpose }) => {
    const others = installed(
      packages,
      named.filter((name) => !names.includes(name)),
    );
    const own = [...all].filter((path) => !others.has(path));
    return { names, purpose, count: own.length, bytes: sum(own), own };
  });
  const shared = [...all].filter((path) => !rows.some(({ own }) => own.includes(path)));
  rows.sort((a, b) => b.bytes - a.bytes);
  return withRows(page, WEIGHTS, [
    ...rows.map(({ names, purpose, count, bytes }) => row(`\`${names.join("`, `")}\``, purpose, count, bytes)),
    row("needed by several of them", "", shared.length, sum(shared)),
    row("all", "", all.size, sum([...all])),
  ]);
}

function row(name: string, purpose: string, count: number, bytes: number): string {
  return `| ${name} | ${purpose} | ${count} | ${(bytes / 1e6).toFixed(2)} |`;
}

/** Returns the paths of packages and of everything that they need, without optional packages. */
function installed(packages: Packages, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (from: string, name: string) => {
    const path = resolvePackage(packages, from, name);
    if (path === undefined || found.has(path) || packages[path]?.optional) return;
    found.add(path);
    for (const needed of Object.keys(packages[path]?.dependencies ?? {})) add(path, needed);
  };
  for (const name of names) add("", name);
  return found;
}

/** Finds a package as Node does: in the folder of the package that needs it, then in those above. */
function resolvePackage(packages: Packages, from: string, name: string): string | undefined {
  const path = join(from, "node_modules", name);
  if (path in packages) return path;
  return from === ""
    ? undefined
    : resolvePackage(packages, from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ""), name);
}

const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + sizeOf(path), 0);

/** Returns the size of the files in a folder, without the packages that are installed in it. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === "node_modules" ? 0 : sizeOf(path);
    else bytes += statSync(path).size;
  }
  return bytes;
}
