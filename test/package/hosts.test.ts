import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { HEAP_OPTIONS } from "../../src/cli/start/child.ts";
import { configKeys } from "../../src/shared/config/schema/config.ts";

const FOLDER = "examples/hosts";
const OF_HOSTS = ["NODE_VERSION"];

describe(FOLDER, () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const variables = [...OF_HOSTS, ...configKeys().flatMap(([, { env }]) => env ?? [])];

  for (const name of readdirSync(FOLDER)) {
    it(`${name}: names only scripts, files and variables that exist`, () => {
      const text = readFileSync(join(FOLDER, name), "utf8").replace(/^#.*\n/gm, "");
      const files = [...text.matchAll(/\bsrc\/[\w/]+\.ts\b/g)].map(([file]) => file);
      const used = [...text.matchAll(/\bnpm run (\w+)/g)].map(([, script = ""]) => script);
      const set = [...text.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g)].map(([variable]) => variable);

      expect(files.filter((file) => !existsSync(file))).to.deep.equal([]);
      expect(used.filter((script) => !(script in scripts))).to.deep.equal([]);
      expect(set.filter((variable) => !variables.includes(variable))).to.deep.equal([]);
      expect(set).to.include("TRUST_PROXY");
    });
  }

  it("app.json: scales the processes of the Procfile", () => {
    const { formation } = JSON.parse(readFileSync(join(FOLDER, "app.json"), "utf8"));
    const processes = readFileSync("Procfile", "utf8").match(/^\w+(?=:)/gm) ?? [];

    expect(Object.keys(formation)).to.have.members(processes.filter((name) => name !== "release"));
  });

  it("fly.toml: limits the heap as the npm scripts do", () => {
    const text = readFileSync(join(FOLDER, "fly.toml"), "utf8");

    expect(text.match(new RegExp(`node ${HEAP_OPTIONS.join(" ")} src/(api|workers)`, "g"))).to.have.length(2);
  });
});
