import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";

const run = promisify(execFile);
const FOLDER = ".github/workflows";

/** The keys of a workflow, of a job and of a step that our workflows use. GitHub refuses unknown ones. */
const KEYS = {
  workflow: ["name", "on", "permissions", "jobs"],
  job: ["name", "needs", "runs-on", "timeout-minutes", "permissions", "strategy", "steps", "uses", "env", "if"],
  step: ["name", "id", "if", "uses", "with", "run", "env"],
};

/** Returns the keys of a workflow that are not known, and the steps and jobs that do not say what to do. */
function faultsOf(content: string): string[] {
  const unknown = (kind: keyof typeof KEYS, value: object) =>
    Object.keys(value)
      .filter((key) => !KEYS[kind].includes(key))
      .map((key) => `${kind}: ${key}`);
  const { jobs, ...workflow } = parse(content) as { jobs: Record<string, { steps?: object[]; uses?: string }> };
  return [
    ...unknown("workflow", workflow),
    ...Object.values(jobs).flatMap((job) => [
      ...unknown("job", job),
      ...("uses" in job === "runs-on" in job ? ["job: either uses or runs-on"] : []),
      ...(job.steps ?? []).flatMap((step) => [
        ...unknown("step", step),
        ...("uses" in step === "run" in step ? ["step: either uses or run"] : []),
      ]),
    ]),
  ];
}

describe(FOLDER, () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

  for (const name of readdirSync(FOLDER)) {
    const content = readFileSync(join(FOLDER, name), "utf8");

    it(`${name}: has only keys that GitHub knows`, () => {
      expect(faultsOf(content)).to.deep.equal([]);
    });

    it(`${name}: runs only scripts and files that exist`, () => {
      const used = [...content.matchAll(/\bnpm run (?:-s )?(\S+)/g)].map(([, script = ""]) => script);
      const files = [...content.matchAll(/\bnode ([\w/]+\.\w+)|uses: (\.\/\S+)/g)].map(
        ([, file, uses]) => file ?? uses,
      );

      expect(used.filter((script) => !(script in scripts))).to.deep.equal([]);
      expect(files.filter((file = "") => !existsSync(file))).to.deep.equal([]);
    });
  }

  it("are checked for unknown keys", () => {
    const job = "runs-on: ubuntu-24.04\n    step:\n      - run: ls\n";

    expect(faultsOf(`on: push\njobs:\n  a:\n    ${job}`)).to.deep.equal(["job: step"]);
  });
});

describe("the packages of npm", () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "signalbox-client-"));
  });
  after(() => rmSync(directory, { recursive: true }));

  // the manifest of `signalbox` is in package.test.ts
  it("name the repository of the workflow in their manifests, which provenance needs", async () => {
    const env = { ...process.env, GITHUB_REPOSITORY: "owner/name" };
    await run(process.execPath, ["script/buildClient.mjs", directory], { env });
    const { repository } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));

    expect(repository).to.deep.equal({ type: "git", url: "git+https://github.com/owner/name.git" });
  });

  it("are not packed from the clone itself, whose TypeScript does not run below node_modules", async () => {
    const { code, stderr } = await run("npm", ["pack", "--dry-run"]).catch((error) => error);

    expect(code).to.not.equal(0);
    expect(stderr).to.include("Run npm run build:package, and pack dist/package.");
  });
});
