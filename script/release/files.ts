import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { withAbsoluteLinks } from "../publishedPlace.mjs";
import { run } from "./run.ts";
import { changesOf, currentVersion, headingOf } from "./version.ts";

/** The place of the files of a release. */
export const RELEASE = join("dist", "release");

/** The packages of Python that script/bootstrap.mjs installs: build and twine among them. */
const PYTHON = resolve(".tools", "python");

/**
 * Makes all files of the current version and checks them as their registries do: the packages for npm and Python, the bill of
 * materials, the sums of these, and the notes of the release.
 */
export function makeFiles(): void {
  rmSync(RELEASE, { recursive: true, force: true });
  mkdirSync(RELEASE, { recursive: true });
  const version = currentVersion();
  run(process.execPath, ["script/buildPackage.mjs", RELEASE]);
  run(process.execPath, ["script/buildClient.mjs"]);
  run("npm", ["pack", "./dist/client", "--loglevel=error", "--pack-destination", RELEASE]);
  // The sources of the same commit have the same sums.
  const SOURCE_DATE_EPOCH = run("git", ["log", "-1", "--format=%ct"]).trim();
  python(["-m", "build", "--no-isolation", "--outdir", RELEASE, "clients/python"], { SOURCE_DATE_EPOCH });
  run(process.execPath, ["script/sbom.mjs"]);
  renameSync("sbom.json", join(RELEASE, `signalbox-${version}.cdx.json`));

  const files = readdirSync(RELEASE).sort();
  const paths = (ending: RegExp) => files.filter((name) => ending.test(name)).map((name) => join(RELEASE, name));
  for (const path of paths(/\.tgz$/)) run("npm", ["publish", "--dry-run", "--access", "public", `./${path}`]);
  python(["-m", "twine", "check", "--strict", ...paths(/\.(whl|tar\.gz)$/)]);
  const sums = files.map((name) => `${sha256(join(RELEASE, name))}  ${name}\n`);
  writeFileSync(join(RELEASE, "SHA256SUMS"), sums.join(""));
  const notes = changesOf(headingOf(version)).replace(/^.*\n+/, "");
  writeFileSync(join(RELEASE, "NOTES.md"), `${withAbsoluteLinks(notes, version)}\n`);
}

function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const PYTHONPATH = [PYTHON, process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  run("python3", args, { ...env, PYTHONPATH });
}

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
