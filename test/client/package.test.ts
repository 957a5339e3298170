import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { build } from "vite";
import { startApp } from "../support/app.ts";

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
import { createClient, SignalboxError } from "signalbox/client";
await using client = createClient({ url: process.argv[2] });
`;

/** Without \`await using\`, which Node 20 does not support. */
const JAVASCRIPT = `
import { createClient, SignalboxError } from "signalbox/client";
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
const missing = await client.jobs.get("no such job").catch((error) => error);
await client.close();
console.log(JSON.stringify({ status: last.status, output: last.output, code: missing instanceof SignalboxError && missing.code }));
`;

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

describe("npm package of signalbox/client", function () {
  this.timeout(120_000);
  let room: string;
  let project: string;
  before(async () => {
    room = mkdtempSync(join(tmpdir(), "signalbox-package-"));
    project = join(room, "project");
    mkdirSync(project);
    await run(process.execPath, ["script/buildClient.mjs", join(room, "package")]);
    const { stdout } = await run("npm", ["pack", join(room, "package"), "--silent"], { cwd: room, env });
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    await run("npm", ["install", "--offline", "--silent", join(room, stdout.trim())], { cwd: project, env });
  });
  after(() => rmSync(room, { recursive: true }));

  it("has no dependencies and the version of the service", () => {
    const manifest = JSON.parse(readFileSync(join(project, "node_modules/signalbox/package.json"), "utf8"));
    const ours = JSON.parse(readFileSync("package.json", "utf8"));

    expect(manifest).to.include({ name: ours.name, version: ours.version, license: ours.license });
    expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).to.deep.equal([]);
    expect(manifest).not.to.have.property("private");
  });

  it("works in plain JavaScript on the Node of the machine, without warnings", async () => {
    const app = await startApp();
    writeFileSync(join(project, "main.js"), JAVASCRIPT);

    const { stdout, stderr } = await run("node", ["main.js", app.url], { cwd: project, env });

    await app.close();
    expect(stderr).to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal({ status: "completed", output: { ok: true }, code: "job_not_found" });
  });

  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])
    it(`type-checks in strict TypeScript without Node's types, with module resolution ${moduleResolution}`, async () => {
      const compilerOptions = {
        ...{ module, moduleResolution, target: "es2022", lib: ["es2022", "dom"], types: [], strict: true },
        ...{ noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
      };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
      writeFileSync(join(project, "main.ts"), TYPESCRIPT);

      const { stdout } = await run(process.execPath, [resolve("node_modules/typescript/bin/tsc")], {
        cwd: project,
      }).catch((error) => error);

      expect(stdout).to.equal("");
    });

  it("is smaller than 5.5 kB bundled, minified and gzipped", async () => {
    const built = await build({
      ...{ configFile: false, logLevel: "silent", root: project },
      build: {
        ...{ write: false, target: "es2022", modulePreload: false },
        rollupOptions: { input: join(project, "node_modules/signalbox/client.js"), preserveEntrySignatures: "strict" },
      },
    });

    const { output } = built as Exclude<typeof built, unknown[]> & { output: { code?: string }[] };
    const code = output.map((chunk) => chunk.code ?? "").join("");
    expect(code).to.include("createClient").and.include("/api/events").and.include("/api/deliveries");
    expect(gzipSync(code, { level: 9 }).length).to.be.below(5_500);
  });
});
