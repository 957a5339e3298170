import { type ExecFileException, execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Service, startShell } from "../../cli/service.ts";

const run = promisify(execFile);

/** A version that no dependency has. */
const VERSION = "9.87.65";
const FILES = [
  "NOTES.md",
  "SHA256SUMS",
  `signalbox-${VERSION}.cdx.json`,
  `signalbox-${VERSION}.tgz`,
  `signalbox-client-${VERSION}.tgz`,
  `signalbox_client-${VERSION}-py3-none-any.whl`,
  `signalbox_client-${VERSION}.tar.gz`,
];

/** The places where the current version may remain: in the history, and in the locked packages of others. */
const WITH_OTHER_VERSIONS = [":!CHANGELOG.md", ":!docs/how-to/upgrade.md", ":!*package-lock.json"];

const ME = { NAME: "A Maintainer", EMAIL: "maintainer@example.com" };
const GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: ME.NAME,
  GIT_AUTHOR_EMAIL: ME.EMAIL,
  GIT_COMMITTER_NAME: ME.NAME,
  GIT_COMMITTER_EMAIL: ME.EMAIL,
};

/** The packages come from the files of the release, and what they need from what npm has stored, if it can. */
const NPM = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };

const CLIENTS = {
  "client.mjs": `
import { createClient } from "signalbox-client";
const client = createClient({ url: process.argv[2] });
await client.job("by-npm").create();
await client.job("by-npm").complete({ output: { by: "npm" } });
console.log(JSON.stringify((await client.jobs.get("by-npm")).output));
await client.close();
`,
  "client.py": `
import json, sys
from signalbox_client import Client, __version__
with Client(sys.argv[1]) as client:
    with client.job("by-pypi") as job:
        job.output = {"by": "pypi", "version": __version__}
    print(json.dumps(client.jobs.get("by-pypi")["output"]))
`,
};

describe("npm run release:version", function () {
  this.timeout(300_000);
  let room: string;
  let clone: string;
  let origin: string;

  const git = async (...args: string[]) =>
    (await run("git", args, { cwd: clone, env: { ...process.env, ...GIT } })).stdout;
  const release = (...args: string[]) =>
    run(process.execPath, ["script/release.ts", ...args], { cwd: clone, env: { ...process.env, ...NPM, ...GIT } })
      .then(({ stdout }) => ({ code: 0, stdout, stderr: "" }))
      .catch(({ code, stdout, stderr }: ExecFileException) => ({
        code,
        stdout: String(stdout),
        stderr: String(stderr),
      }));
  const readClone = (path: string) => readFileSync(join(clone, path), "utf8");

  before(async () => {
    room = mkdtempSync(join(tmpdir(), "signalbox-release-"));
    [clone, origin] = [join(room, "clone"), join(room, "origin.git")];
    mkdirSync(clone);
    // The files as they are, also those that are not committed yet.
    const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    for (const path of stdout.split("\0").filter(Boolean)) {
      mkdirSync(dirname(join(clone, path)), { recursive: true });
      cpSync(path, join(clone, path));
    }
    for (const folder of ["node_modules", ".tools"]) symlinkSync(resolve(folder), join(clone, folder));
    cpSync("dist/dashboard", join(clone, "dist/dashboard"), { recursive: true });
    await run("git", ["init", "--quiet", "--bare", origin]);
    await git("init", "--quiet", "--initial-branch", "main");
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "All that is there");
    await git("remote", "add", "origin", origin);
    await git("push", "--quiet", "origin", "main");
  });
  after(() => rmSync(room, { recursive: true, force: true }));

  const restored = async () => {
    await git("restore", ".");
    await git("clean", "--quiet", "--force");
  };
  const refusals: Readonly<Record<string, [() => unknown, string[], RegExp, (() => Promise<unknown>)?]>> = {
    "a version of two numbers": [() => {}, ["1.2"], /^"1\.2" is not a version: give three numbers, such as 1\.2\.3\.$/],
    "--publish without a version": [() => {}, ["--publish"], /^"" is not a version/],
    "a lower version": [
      () => {},
      ["0.0.9"],
      /^0\.0\.9 is lower than \S+, the version in package\.json: give a higher one\.$/,
    ],
    "a work tree with a new file": [
      () => writeFileSync(join(clone, "new.txt"), ""),
      [VERSION],
      /^The work tree has changes, which `git status` lists: commit them, or put them away with `git stash -u`\.$/,
    ],
    "a tag that exists": [
      () => git("tag", `v${VERSION}`),
      [VERSION],
      /^The tag v9\.87\.65 exists: give a higher version, or remove a tag that was never pushed with `git tag -d v9\.87\.65`\.$/,
      () => git("tag", "--delete", `v${VERSION}`),
    ],
    "an empty section of the changelog": [
      async () => {
        writeFileSync(
          join(clone, "CHANGELOG.md"),
          "# Changelog\n\n## Unreleased\n\n## 0.0.1 (2026-01-01)\n\nThe first.\n",
        );
        await git("commit", "--quiet", "--all", "--message", "Empty it");
      },
      [VERSION],
      /^The section "Unreleased" of CHANGELOG\.md is empty: write there what changes for users\.$/,
      () => git("reset", "--quiet", "--hard", "HEAD~1"),
    ],
    "to publish what origin does not have": [
      () => git("commit", "--quiet", "--allow-empty", "--message", "Not pushed"),
      [VERSION, "--publish"],
      /^main differs from that of origin: `git pull` or `git push`, then try again\.$/,
      () => git("reset", "--quiet", "--hard", "HEAD~1"),
    ],
  };
  for (const [title, [arrange, args, sentence, undo]] of Object.entries(refusals)) {
    it(`refuses ${title}, and states what to do`, async () => {
      await arrange();
      const { code, stderr } = await release(...args);
      await undo?.();
      await restored();

      expect(stderr.trimEnd()).to.match(sentence);
      expect(code).to.equal(1);
    });
  }

  it("restores the work tree when a step fails", async () => {
    const page = readClone("README.md").replaceAll(/\d+\.\d+\.\d+/g, "X.Y.Z");
    writeFileSync(join(clone, "README.md"), page);
    await git("commit", "--quiet", "--all", "--message", "Name no version");
    const { code, stderr } = await release(VERSION);
    const status = await git("status", "--porcelain");
    await git("reset", "--quiet", "--hard", "HEAD~1");

    expect(stderr).to.equal("README.md names no version any more: correct PLACES in script/release/version.ts.\n");
    expect([code, status]).to.deep.equal([1, ""]);
  });

  describe("as a rehearsal", () => {
    let folder: string;
    let service: Service;
    let url: string;

    before(async () => {
      const head = await git("rev-parse", "HEAD");
      const { stderr } = await release(VERSION);
      expect(stderr).to.equal("");
      expect([await git("status", "--porcelain"), await git("rev-parse", "HEAD")]).to.deep.equal(["", head]);
      expect(await git("tag")).to.equal("");

      folder = join(room, "folder");
      mkdirSync(folder);
      for (const [name, text] of Object.entries(CLIENTS)) writeFileSync(join(folder, name), text);
      const file = (ending: string) => join(clone, "dist/release", FILES.find((name) => name.endsWith(ending)) ?? "");
      const tarballs = [`signalbox-${VERSION}.tgz`, `signalbox-client-${VERSION}.tgz`].map(file);
      await run("npm", ["install", "--loglevel=error", ...tarballs], { cwd: folder, env: { ...process.env, ...NPM } });
      await run("python3", [
        "-m",
        "pip",
        "install",
        "--no-index",
        "--quiet",
        "--target",
        join(folder, "python"),
        file(".whl"),
      ]);
      const PATH = [dirname(process.execPath), resolve(".tools/bin"), process.env.PATH].join(delimiter);
      service = startShell("npx signalbox start", { ...NPM, PATH, HOME: folder }, folder);
      url = await service.ready();
    });
    after(async () => {
      service?.kill("SIGTERM");
      await service?.ended;
    });

    it("makes the packages, the bill of materials, the sums and the notes", async () => {
      const bom = JSON.parse(readClone(`dist/release/signalbox-${VERSION}.cdx.json`));
      const cwd = join(clone, "dist/release");
      const { stdout } = await run("sha256sum", ["--check", "SHA256SUMS"], { cwd });

      expect(readdirSync(cwd).sort()).to.deep.equal(FILES);
      expect(stdout.match(/: OK$/gm)).to.have.length(FILES.length - 2);
      expect(bom.metadata.component).to.include({ name: "signalbox", version: VERSION });
      expect(readClone("CHANGELOG.md")).to.include(
        `\n## Unreleased\n\n${readClone("dist/release/NOTES.md").trimEnd()}\n`,
      );
    });

    it("makes a service that starts in an empty folder, with its version", async () => {
      const { stdout } = await run("npx", ["signalbox", "--version"], { cwd: folder });

      expect(stdout.trim()).to.equal(VERSION);
      expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    });

    it("makes a client for Node that reports to it", async () => {
      const { stdout } = await run("node", ["client.mjs", url], { cwd: folder });

      expect(JSON.parse(stdout)).to.deep.equal({ by: "npm" });
    });

    it("makes a client for Python that reports to it", async () => {
      const env = { PATH: process.env.PATH, PYTHONPATH: join(folder, "python"), no_proxy: "*" };
      const { stdout } = await run("python3", ["client.py", url], { cwd: folder, env });

      expect(JSON.parse(stdout)).to.deep.equal({ by: "pypi", version: VERSION });
    });
  });

  describe("with --publish", () => {
    let former: string;
    let refused: Awaited<ReturnType<typeof release>>;
    /** The state of the work tree, its last commit and its tags after the command that the refusal names. */
    let undone: string[];
    before(async () => {
      const hook = join(origin, "hooks/pre-receive");
      writeFileSync(hook, "#!/bin/sh\necho Not today.\nexit 1\n", { mode: 0o755 });
      refused = await release(VERSION, "--publish");
      rmSync(hook);
      const [, undo = ""] = /undo it with `(.+)`/.exec(refused.stderr) ?? [];
      await run("sh", ["-c", undo], { cwd: clone });
      undone = await Promise.all([git("status", "--porcelain"), git("log", "-1", "--format=%s"), git("tag")]);

      former = JSON.parse(readClone("package.json")).version;
      const { stderr, stdout } = await release(VERSION, "--publish");
      expect(stderr).to.equal("");
      expect(stdout).to.include(`v${VERSION} is pushed`);
    });

    it("states how to undo what origin has refused", () => {
      expect(refused.code).to.equal(1);
      expect(refused.stderr)
        .to.include("Not today.")
        .and.match(/push it with `git push --quiet --atomic origin .*`, or undo it/);
      expect(undone).to.deep.equal(["", "All that is there\n", ""]);
    });

    it("pushes a commit with the version, and its tag", async () => {
      const remote = await git("ls-remote", "origin");
      const [head] = (await git("rev-parse", "HEAD")).split("\n");

      expect(remote).to.include(`${head}\trefs/heads/main`).and.include(`${head}\trefs/tags/v${VERSION}^{}`);
      expect(await git("log", "-2", "--format=%s")).to.equal(`Release ${VERSION}\nAll that is there\n`);
      expect(await git("status", "--porcelain")).to.equal("");
    });

    it("leaves the former version in no file", async () => {
      const places = await git("grep", "--files-with-matches", "--fixed-strings", VERSION);
      const left = await git("grep", "--fixed-strings", former, "--", ".", ...WITH_OTHER_VERSIONS).catch(
        ({ code }) => code,
      );

      expect(left).to.equal(1); // grep found nothing
      expect(places.split("\n")).to.include.members(["Dockerfile", "README.md", "package-lock.json", "CHANGELOG.md"]);
    });

    it("gives the section of the changelog the version and the date, below an empty one", () => {
      const today = new Date().toISOString().slice(0, 10);

      expect(readClone("CHANGELOG.md")).to.include(`\n## Unreleased\n\n## ${VERSION} (${today})\n\n`);
    });

    it("refuses the same version again, because origin has its tag", async () => {
      await git("tag", "--delete", `v${VERSION}`);
      writeFileSync(
        join(clone, "CHANGELOG.md"),
        readClone("CHANGELOG.md").replace("## Unreleased\n", "## Unreleased\n\nMore.\n"),
      );
      await git("commit", "--quiet", "--all", "--message", "Change more");
      await git("push", "--quiet", "origin", "main");
      const { code, stderr } = await release(VERSION, "--publish");

      expect([code, stderr]).to.deep.equal([1, `The tag v${VERSION} exists in origin: give a higher version.\n`]);
    });
  });
});
