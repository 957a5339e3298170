import { readFileSync, writeFileSync } from "node:fs";

/** A release that cannot be made. Its message states what to do. */
export class Refusal extends Error {}

const NUMBER = String.raw`\d+\.\d+\.\d+`;
const MANIFEST = new RegExp(String.raw`(?<="name": "signalbox",\n\s+"version": ")${NUMBER}(?=")`, "g");
const PAGE = new RegExp(
  String.raw`(?<=signalbox-(?:client-)?)${NUMBER}(?=\.tgz)|(?<=^Version )${NUMBER}(?=: the API)|(?<=/action@v)${NUMBER}`,
  "gm",
);

/** Every place that names the current version. */
const PLACES: Readonly<Record<string, RegExp>> = {
  "package.json": MANIFEST,
  "package-lock.json": MANIFEST,
  "clients/python/src/signalbox_client/__init__.py": new RegExp(`(?<=^__version__ = ")${NUMBER}`, "gm"),
  Dockerfile: new RegExp(String.raw`(?<=image\.version=")${NUMBER}`, "g"),
  "README.md": PAGE,
  "docs/how-to/deploy.md": PAGE,
  "docs/how-to/report-from-github-actions.md": PAGE,
  "docs/reference/client.md": PAGE,
};

const CHANGELOG = "CHANGELOG.md";
const UNRELEASED = "## Unreleased\n";

/** Returns the version in package.json. */
export const currentVersion = (): string => JSON.parse(readFileSync("package.json", "utf8")).version;

/** @throws Refusal unless the version has three numbers and is not lower than the current one */
export function checkVersion(version: string): void {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version)) {
    throw new Refusal(`"${version}" is not a version: give three numbers, such as 1.2.3.`);
  }
  const current = currentVersion();
  if (version.localeCompare(current, "en", { numeric: true }) < 0) {
    throw new Refusal(`${version} is lower than ${current}, the version in package.json: give a higher one.`);
  }
}

/** @throws Refusal if a place no longer names a version */
export function setVersion(version: string): void {
  for (const [path, pattern] of Object.entries(PLACES)) {
    const text = readFileSync(path, "utf8");
    if (text.search(pattern) === -1) {
      throw new Refusal(`${path} names no version any more: correct PLACES in script/release/version.ts.`);
    }
    writeFileSync(path, text.replace(pattern, version));
  }
}

/** Returns what a section of the changelog contains, by default that of the next release. */
export function changesOf(heading = UNRELEASED): string {
  const [, rest = ""] = readFileSync(CHANGELOG, "utf8").split(heading);
  return rest.split(/^## /m, 1)[0]?.trim() ?? "";
}

/** Makes the section "Unreleased" of the changelog that of the version, below an empty one. */
export function nameChanges(version: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const text = readFileSync(CHANGELOG, "utf8");
  writeFileSync(CHANGELOG, text.replace(UNRELEASED, `${UNRELEASED}\n${headingOf(version)}${date})\n`));
}

/** Returns the heading of a version without its date. */
export const headingOf = (version: string): string => `## ${version} (`;
