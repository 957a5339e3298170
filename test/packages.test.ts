import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect } from "chai";
import { START_ONLY } from "../script/startOnly.mjs";
import { GMAIL_MISSING } from "../src/cli/exit.ts";
import { MEMORY_SERVER } from "../src/cli/start/programs/mongod.mjs";

const run = promisify(execFile);

interface LockEntry {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly optionalDependencies?: Record<string, string>;
}

describe("package-lock.json", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, LockEntry> };

  it("has the builds for every system, so that npm ci takes it everywhere (script/completeLock.mjs)", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    );

    expect(missing).to.deep.equal([]);
  });

  it("names no registry, nor any other place", () => {
    const entries = Object.values(packages).filter(({ resolved }) => resolved !== undefined);

    expect(entries).to.deep.equal([]);
  });

  it("has the integrity of every package, but for builds for other systems that were added by name", () => {
    const { "": _, ...installed } = packages;
    const without = Object.entries(installed).filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ""));
    const unexplained = without.filter(([, { optional, os }]) => !optional || !os);

    expect(Object.keys(installed)).to.have.length.above(100);
    expect(unexplained).to.deep.equal([]);
  });
});

interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly { "bom-ref": string; name: string; version: string; purl: string; hashes?: object[] }[];
  readonly dependencies: readonly { ref: string; dependsOn: string[] }[];
}

describe("npm run sbom", () => {
  let bom: Bom;
  before(async () => {
    await run("npm", ["run", "sbom"]);
    bom = JSON.parse(readFileSync("sbom.json", "utf8"));
  });

  it("writes a CycloneDX document about the service whose references all lead somewhere", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    const refs = new Set(bom.components.map((component) => component["bom-ref"]));
    const [root, ...others] = bom.dependencies.map(({ ref }) => ref);

    expect([bom.bomFormat, bom.specVersion]).to.deep.equal(["CycloneDX", "1.5"]);
    expect(bom.metadata.component).to.include({ name: "signalbox", version });
    expect(bom.serialNumber).to.match(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(bom.components.filter(({ purl }) => !purl.startsWith("pkg:npm/"))).to.deep.equal([]);
    expect(root).to.match(/^signalbox@/);
    expect([...others, ...bom.dependencies.flatMap(({ dependsOn }) => dependsOn)].filter((ref) => !refs.has(ref))).to.be
      .empty;
  });

  it("names every direct dependency with its version and its hash, and nothing that is for development alone", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const named = new Map(bom.components.map((component) => [`${component.name}@${component.version}`, component]));

    for (const [name, version] of Object.entries(dependencies).filter(([one]) => !START_ONLY.includes(one))) {
      expect(named.get(`${name}@${version}`)?.hashes, name).to.have.length(1);
    }
    const forDevelopment = ["mocha", "chai", "typescript", "playwright-core"];
    expect(devDependencies).to.include.keys(forDevelopment);
    forDevelopment.push(...START_ONLY);
    expect(forDevelopment.filter((name) => bom.components.some((component) => component.name === name))).to.be.empty;
  });
});

describe("the options of Node that bound the heap", () => {
  const web = "exec node $(node src/cli/start/printHeapOptions.ts $WEB_CONCURRENCY) src/api/main.ts";
  const worker = "exec node $(node src/cli/start/printHeapOptions.ts) src/workers/main.ts";
  for (const [file, commands] of [
    ["package.json", [web, worker]],
    ["Dockerfile", [web]],
    ["compose.yaml", [worker.replace("node $(", () => "node $$(")]], // Compose replaces $$ by $.
    ["examples/hosts/fly.toml", [web, worker]],
  ] as const) {
    it(`are computed when ${file} starts a process`, () => {
      const text = readFileSync(file, "utf8");

      for (const command of commands) expect(text).to.include(command);
      expect(text.match(/src\/(api|workers)\/main\.ts/g)).to.have.length(commands.length);
    });
  }
});

describe("the sentence about packages that the npm package leaves out", () => {
  it("names the major versions of package.json", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const named = [...GMAIL_MISSING.matchAll(/(\S+)@(\d+)/g)];

    expect(named).to.have.length(2);
    for (const [, name = "", major] of named) expect(dependencies[name], name).to.match(new RegExp(`^${major}\\.`));
  });
});

describe("the fetcher of MongoDB", () => {
  it("has the same version in the npm package as in a clone", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));

    expect(MEMORY_SERVER).to.equal(`mongodb-memory-server@${dependencies["mongodb-memory-server"]}`);
  });
});
