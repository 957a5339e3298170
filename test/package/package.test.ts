import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { GMAIL_MISSING } from "../../src/cli/exit.ts";
import { type Service, startProgram } from "../cli/service.ts";
import { eventually } from "../support/eventually.ts";

const run = promisify(execFile);

/** Programs that a machine has: Node with npm, and the two servers, so that the test downloads none. */
const PATH = [dirname(process.execPath), resolve(".tools/bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

const TRANSFORM = `
import type { Transform } from "signalbox/transform";

interface Build { readonly status: "broken" | "fixed" }

const transform: Transform<Build & Record<string, unknown>> = ({ payload }) => ({ message: \`The build is \${payload.status}.\` });
export default transform;
`;

const CLIENT = `
import { createClient } from "signalbox/client";

const client = createClient({ url: String(process.argv[2]) });
const job = client.job("by-client");
await job.create({ name: "By the client" });
await job.step("copy", { name: "Copy", from: 0, to: 100 }).run(async (step) => {
  step.progress(50);
  return { files: 3 };
});
console.log(JSON.stringify(await client.jobs.get("by-client")));
await client.close();
`;

const CONFIG = `{
  hooks: {
    enabled: true, token: "a-token-of-24-characters",
    mappings: [{ match: { path: "build" }, action: "agent", messageTemplate: "none", transform: { module: "build.ts" } }],
  },
}`;

describe("the npm package, installed in an empty folder", function () {
  this.timeout(300_000);
  let folder: string;
  let service: Service;
  let url: string;

  const signalbox = (...words: string[]) =>
    run(join(folder, "node_modules/.bin/signalbox"), words, { cwd: folder, env: { PATH, SIGNALBOX_URL: url } });
  const installed = (path: string) => join(folder, "node_modules/signalbox", path);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-package-"));
    await run(process.execPath, ["script/buildPackage.mjs", folder]);
    const [tarball = ""] = readdirSync(folder);
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...quiet, `./${tarball}`], { cwd: folder });
    mkdirSync(join(folder, "hooks/transforms"), { recursive: true });
    writeFileSync(join(folder, "hooks/transforms/build.ts"), TRANSFORM);
    writeFileSync(join(folder, "signalbox.json5"), CONFIG);
    writeFileSync(join(folder, "client.mjs"), CLIENT);
    service = startProgram(installed("lib/cli/main.js"), ["start"], { PATH }, folder);
    url = await service.ready();
  });

  after(async () => {
    service?.kill("SIGTERM");
    await service?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it("starts everything with its data in the working directory", () => {
    expect(service.printed()).to.include("Signalbox is ready.");
    expect(existsSync(join(folder, ".signalbox/mongodb"))).to.equal(true);
    expect(existsSync(join(folder, ".signalbox/tools/bin/redis-server"))).to.equal(true);
  });

  it("contains no TypeScript but declarations, and none of the packages for development", () => {
    const files = readdirSync(installed("."), { recursive: true }).map(String);
    const sources = files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"));
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const packages = readdirSync(join(folder, "node_modules"));

    expect(sources).to.deep.equal([]);
    expect(files).to.include.members(["lib/client/client.d.ts", "lib/cli/main.js.map", "dist/dashboard/index.html"]);
    expect(packages).to.not.include.members(["typescript", "mocha", "vite"]);
    expect(devDependencies).to.include.keys("typescript", "mocha", "vite");
  });

  it("shows a job that curl has created: `signalbox jobs get`", async () => {
    const body = JSON.stringify({
      stepName: "Copy",
      jobProgressStart: 0,
      jobProgressEnd: 60,
      progress: 50,
      message: "half",
    });
    const header = ["-H", "Content-Type: application/json"];
    const at = `${url}/api/jobs/first`;
    await run("curl", ["-sf", "-X", "PUT", at, ...header, "-d", "{}"]);
    await run("curl", ["-sf", "-X", "PUT", `${at}/steps/copy`, ...header, "-d", body]);
    const { stdout } = await signalbox("jobs", "get", "first", "--json");

    expect(JSON.parse(stdout)).to.include({ jobId: "first", progress: 30, message: "half" });
  });

  it("gives a program the client: `signalbox/client`", async () => {
    const { stdout } = await run(process.execPath, ["client.mjs", url], { cwd: folder, env: { PATH } });

    expect(JSON.parse(stdout)).to.include({ jobId: "by-client", status: "completed" });
  });

  it("gives a TypeScript project the types of both entries", async () => {
    writeFileSync(join(folder, "client.mts"), CLIENT);
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--skipLibCheck", "false", "--types", "node"];
    const roots = ["--typeRoots", resolve("node_modules/@types")];
    const { stdout } = await run(
      process.execPath,
      [resolve("node_modules/typescript/bin/tsc"), ...options, ...roots, "client.mts", "hooks/transforms/build.ts"],
      { cwd: folder },
    ).catch(({ stdout }) => ({ stdout }));

    expect(stdout).to.equal("");
  });

  it("runs a transform in TypeScript on a request to a mapped hook", async () => {
    const headers = { Authorization: "Bearer a-token-of-24-characters", "Content-Type": "application/json" };
    const response = await fetch(`${url}/hooks/build`, { method: "POST", headers, body: '{"status":"broken"}' });
    const { runId } = (await response.json()) as { runId: string };
    const read = async () => (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string };
    const ended = await eventually(async () => {
      const record = await read();
      return ["completed", "failed"].includes(record.status) && record;
    }, "the run to end");

    expect(ended.status).to.equal("completed");
    expect(JSON.stringify(ended)).to.include("The build is broken.");
  });

  it("says how to install what Gmail needs", async () => {
    const { code, stderr } = await signalbox("webhooks", "gmail", "status").catch((error) => error);

    expect([code, stderr]).to.deep.equal([1, `${GMAIL_MISSING}\n`]);
  });

  it("takes less than 80 MB, as docs/how-to/deploy.md says", async () => {
    const { stdout } = await run("du", ["-sk", "--apparent-size", join(folder, "node_modules")]);

    expect(Number.parseInt(stdout, 10)).to.be.lessThan(80_000);
  });

  it("serves the dashboard and the API's documentation", async () => {
    const page = await (await fetch(url)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];

    for (const path of [script, "/docs", "/docs/swagger-ui-bundle.js"]) {
      const response = await fetch(`${url}${path}`);
      await response.arrayBuffer();
      expect(response.status, path).to.equal(200);
    }
  });
});
