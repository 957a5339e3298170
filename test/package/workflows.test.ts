import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);
/** Their schema is checked in test/slow/package/image.test.ts. */
const FOLDER = ".github/workflows";

describe(FOLDER, () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

  for (const name of readdirSync(FOLDER)) {
    const content = readFileSync(join(FOLDER, name), "utf8");

    it(`${name}: runs only scripts and files that exist`, () => {
      const used = [...content.matchAll(/\bnpm run (?:-s )?(\S+)/g)].map(([, script = ""]) => script);
      const files = [...content.matchAll(/\bnode ([\w/]+\.\w+)|uses: (\.\/\S+)/g)].map(
        ([, file, uses]) => file ?? uses,
      );

      expect(used.filter((script) => !(script in scripts))).to.deep.equal([]);
      expect(files.filter((file = "") => !existsSync(file))).to.deep.equal([]);
    });
  }
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
