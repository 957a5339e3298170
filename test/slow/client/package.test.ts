import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { startApp } from "../../support/app.ts";
import { BrowserContexts, closeBrowser } from "../../support/browser.ts";
import { documentBlocks } from "../../support/documentBlocks.ts";
import { IN_FULL } from "../../support/packages.ts";

const run = promisify(execFile);

/** Without the directories that npm adds to PATH: users of the package run the Node of their machine. */
const env = {
  ...process.env,
  PATH: (process.env.PATH ?? "")
    .split(delimiter)
    .filter((path) => !/node_modules|node-gyp-bin/.test(path))
    .join(delimiter),
};

const PROGRAM = `
import { createClient, SignalboxError } from "signalbox-client";
await using client = createClient({ url: process.argv[2] });
`;

/** Without \`await using\`, which Node 20 does not support. */
const JAVASCRIPT = `
import { createClient, SignalboxError } from "signalbox-client";
const client = createClient({ url: process.argv[2] });
const job = client.job("from the package");
await job.create({ name: "A job" });
const states = client.watchJob(job.jobId);
await states.next();
const { signal } = new AbortController();
await Promise.all(Array.from({ length: 20 }, (_, i) => job.step("s" + i, { name: "S" }).run(() => {}, { signal })));
await job.step("s", { name: "S", from: 0, to: 100 }).run(async (step) => {
  for (let i = 0; i <= 100; i++) step.progress(i, i + " of 100");
  return { ok: true };
});
let last;
for await (const state of states) last = state;
const waited = await client.jobs.wait(job.jobId);
const missing = await client.jobs.get("no such job").catch((error) => error);
await client.close();
console.log(JSON.stringify({ status: waited.status, output: last.output, code: missing instanceof SignalboxError && missing.code }));
`;

/** The output of the program in JavaScript. */
const PRINTED = { status: "completed", output: { ok: true }, code: "job_not_found" };

/** Other runtimes, as packages of npm. */
const RUNTIMES = ["bun@1.4.5", "deno@2.9.6"];

const TYPESCRIPT = `${PROGRAM.replace("process.argv[2]", '"http://127.0.0.1:3000"')}
const step = client.job("j").step("s", { name: "S", from: 0, to: 100 });
const { rows }: { rows: number } = await step.run(async (step, signal) => {
  signal.throwIfAborted();
  step.progress(50, "half");
  return { rows: 3 };
});
for await (const { type, data } of client.watch({ topics: ["jobs"], filter: { status: "running" } }))
  if (type === "job") data.progress.toFixed(rows);
const { jobs, nextCursor } = await client.jobs.list({ metadata: { team: "a" } });
const names: (string | null)[] = jobs.map(({ name }) => name);
const { runId } = await client.hooks.send("agent", { message: "Hello" });
export const all: unknown[] = [names, nextCursor, runId.length, new SignalboxError(404, "job_not_found", "Gone.").isTransient];
// @ts-expect-error a misspelt field is found
await client.job("j").create({ nmae: "A job" });
`;

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

describe("npm package signalbox-client", () => {
  let room: string;
  let project: string;
  let installed: string;
  const browsers = new BrowserContexts();
  before(async () => {
    room = mkdtempSync(join(tmpdir(), "signalbox-package-"));
    project = join(room, "project");
    installed = join(project, "node_modules/signalbox-client");
    mkdirSync(project);
    await run(process.execPath, ["script/buildClient.mjs", join(room, "package")]);
    const { stdout } = await run("npm", ["pack", join(room, "package"), "--silent"], { cwd: room, env });
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    await run("npm", ["install", "--offline", "--silent", join(room, stdout.trim())], { cwd: project, env });
  });
  after(async () => {
    await closeBrowser();
    rmSync(room, { recursive: true });
  });

  const read = (name: string) => readFileSync(join(installed, name), "utf8");
  /** Returns the file and those that its static imports load. */
  const loadedBy = (name: string): string[] => {
    const imports = [...read(name).matchAll(/\bfrom"\.\/(\w+\.js)"/g)].map(([, file = ""]) => file);
    return [...new Set([name, ...imports.flatMap(loadedBy)])];
  };
  const gzipped = (names: readonly string[]) => sum(names.map((name) => gzipSync(read(name), { level: 9 }).length));

  it("has no dependencies and the version of the service", () => {
    const manifest = JSON.parse(read("package.json"));
    const ours = JSON.parse(readFileSync("package.json", "utf8"));

    expect(manifest).to.include({ name: "signalbox-client", version: ours.version, license: ours.license });
    expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).to.deep.equal([]);
    expect(manifest).not.to.have.property("private");
  });

  it("works in plain JavaScript on the Node of the machine, without warnings", async () => {
    const app = await startApp();
    writeFileSync(join(project, "main.js"), JAVASCRIPT);

    const { stdout, stderr } = await run("node", ["main.js", app.url], { cwd: project, env });

    await app.close();
    expect(stderr).to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal(PRINTED);
  });

  const onOthers = async () => {
    const runtimes = join(room, "runtimes");
    mkdirSync(runtimes);
    await run("npm", ["install", "--no-save", "--silent", "--prefer-offline", ...RUNTIMES], { cwd: runtimes, env });
    const app = await startApp();
    writeFileSync(join(project, "main.js"), JAVASCRIPT);

    const ended = [];
    for (const [program = "", ...args] of [["bun"], ["deno", "run", "--allow-net"]]) {
      const path = join(runtimes, "node_modules/.bin", program);
      ended.push(await run(path, [...args, "main.js", app.url], { cwd: project, env }));
      await app.call("DELETE", "/api/jobs/from%20the%20package");
    }

    await app.close();
    expect(ended.map(({ stdout }) => JSON.parse(stdout))).to.deep.equal([PRINTED, PRINTED]);
    expect(ended.map(({ stderr }) => stderr)).to.deep.equal(["", ""]);
  };
  if (IN_FULL) it("works in plain JavaScript in Bun and Deno", onOthers);

  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])
    it(`type-checks in strict TypeScript without Node's types, with module resolution ${moduleResolution}`, async () => {
      const compilerOptions = {
        module,
        moduleResolution,
        target: "es2022",
        lib: ["es2022", "dom"],
        types: [],
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
      };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
      writeFileSync(join(project, "main.ts"), TYPESCRIPT);

      const { stdout } = await run(process.execPath, [resolve("node_modules/typescript/bin/tsc")], {
        cwd: project,
      }).catch((error) => error);

      expect(stdout).to.equal("");
    });

  it("runs the example of its README", async () => {
    const app = await startApp();
    const [example] = documentBlocks(join(installed, "README.md"));
    writeFileSync(join(project, "readme.js"), String(example?.code).replace("http://127.0.0.1:3000", app.url));

    const { stdout } = await run("node", ["readme.js"], { cwd: project, env });

    await app.close();
    expect(stdout).to.equal("completed\n");
  });

  it("exports what signalbox/client exports, and for its other files names of one letter", async () => {
    const [exported, ours] = [
      await import(join(installed, "client.js")),
      await import("../../../src/client/client.ts"),
    ];

    expect(Object.keys(exported).filter((name) => name.length > 1)).to.have.members(Object.keys(ours));
  });

  it("loads less than 5 kB gzipped at its import, and 1.6 kB more at the first watch", () => {
    const atImport = loadedBy("client.js");
    const later = loadedBy("watchJob.js").filter((name) => !atImport.includes(name));

    expect(atImport).to.deep.equal(["client.js"]);
    expect(later).to.deep.equal(["watchJob.js", "watch.js"]);
    expect(gzipped(atImport)).to.be.below(5_000);
    expect(gzipped(later)).to.be.below(1_600);
  });

  it("works in a browser without an error", async () => {
    const app = await startApp();
    const page = await browsers.open(app.url);
    await page.route("**/signalbox-client/*", (route) =>
      route.fulfill({ path: join(installed, basename(route.request().url())) }),
    );

    const seen = await page.evaluate(async () => {
      const { createClient } = await import(String("/signalbox-client/client.js"));
      const client = createClient({ url: "" });
      await client.job("browser").create();
      await client.job("browser").complete({ output: { ok: true } });
      for await (const { status } of client.watchJob("browser")) return status;
    });

    await browsers.closeAll();
    await app.close();
    expect(seen).to.equal("completed");
  });
});
