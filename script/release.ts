/**
 * Makes a release from a clean work tree:
 *
 *   npm run release:version -- 1.2.3             makes and checks its files in dist/release, and changes nothing else
 *   npm run release:version -- 1.2.3 --publish   does the same, then commits the version, and pushes the commit with its tag
 *   npm run release:version                      makes and checks the files of the current version
 *
 * The workflow "Publish" begins with the tag: it makes the same files and publishes them. No other place has the right to
 * publish, and only there npm and PyPI confirm which commit the packages come from.
 */
import { parseArgs } from "node:util";
import { makeFiles, RELEASE } from "./release/files.ts";
import { run } from "./release/run.ts";
import { changesOf, checkVersion, nameChanges, Refusal, setVersion } from "./release/version.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { publish: { type: "boolean", default: false } },
});
const [version = ""] = positionals;
const tag = `v${version}`;

// Ctrl-C ends the command that runs, after which the work tree is restored.
process.on("SIGINT", () => {});
try {
  if (version === "" && !options.publish) makeFiles();
  else release();
  console.log(`The files are in ${RELEASE}.`);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function release(): void {
  checkVersion(version);
  if (run("git", ["status", "--porcelain"]) !== "") {
    throw new Refusal(
      "The work tree has changes, which `git status` lists: commit them, or put them away with `git stash -u`.",
    );
  }
  if (run("git", ["tag", "--list", tag]) !== "") {
    throw new Refusal(
      `The tag ${tag} exists: give a higher version, or remove a tag that was never pushed with \`git tag -d ${tag}\`.`,
    );
  }
  if (changesOf() === "") {
    throw new Refusal('The section "Unreleased" of CHANGELOG.md is empty: write there what changes for users.');
  }
  const branch = options.publish ? branchToPush() : "";
  let isCommitted = false;
  try {
    setVersion(version);
    nameChanges(version);
    makeFiles();
    if (!options.publish) return;
    run("git", ["commit", "--all", "--quiet", "--message", `Release ${version}`]);
    isCommitted = true;
  } finally {
    if (!isCommitted) run("git", ["restore", "."]);
  }
  run("git", ["tag", "--annotate", "--message", `Signalbox ${version}`, tag]);
  push(branch);
  console.log(`${tag} is pushed: the workflow "Publish" tests it and publishes the packages and images.`);
}

/** Returns the branch that the release belongs to. @throws Refusal unless `origin` has it in the same state and not the tag */
function branchToPush(): string {
  const branch = run("git", ["branch", "--show-current"]).trim();
  if (branch === "") throw new Refusal("No branch is checked out: `git switch main`, then try again.");
  run("git", ["fetch", "--quiet", "origin", branch]);
  if (run("git", ["rev-parse", "HEAD"]) !== run("git", ["rev-parse", "FETCH_HEAD"])) {
    throw new Refusal(`${branch} differs from that of origin: \`git pull\` or \`git push\`, then try again.`);
  }
  if (run("git", ["ls-remote", "--tags", "origin", tag]) !== "") {
    throw new Refusal(`The tag ${tag} exists in origin: give a higher version.`);
  }
  return branch;
}

function push(branch: string): void {
  const args = ["push", "--quiet", "--atomic", "origin", `HEAD:refs/heads/${branch}`, `refs/tags/${tag}`];
  try {
    run("git", args);
  } catch (error) {
    const again = `\`git ${args.join(" ")}\``;
    const undo = `\`git tag -d ${tag} && git reset --hard HEAD~1\``;
    throw new Refusal(
      `${(error as Error).message}\nThe release is committed and tagged here only: push it with ${again}, or undo it with ${undo}.`,
    );
  }
}
