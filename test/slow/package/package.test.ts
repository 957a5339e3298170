import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { GMAIL_MISSING } from "../../../src/cli/exit.ts";
import { type Service, startShell } from "../../cli/service.ts";
import { followPage } from "../../guide/followPages.ts";
import { Reader } from "../../guide/reader.ts";
import { BrowserContexts, closeBrowser } from "../../support/browser.ts";
import { documentBlocks } from "../../support/documentBlocks.ts";
import { eventually } from "../../support/eventually.ts";
import { IN_FULL } from "../../support/packages.ts";

const run = promisify(execFile);

/** The oldest Node that the package supports, as a package of npm. */
const OLDEST_NODE = { name: `node-${process.platform}-${process.arch}`, version: "22.18.0" };

/** Programs that a machine has: npm, and the two servers, so that the test downloads none. */
const PATH = [resolve(".tools/bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

/** npm that asks the registry only for what it has not stored. */
const NPM = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };

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
for await (const { status, output } of client.watchJob("by-client")) console.log(JSON.stringify({ status, output }));
await client.close();
`;

const CONFIG = `{
  hooks: {
    enabled: true, token: "a-token-of-24-characters",
    mappings: [{ match: { path: "build" }, action: "agent", messageTemplate: "none", transform: { module: "build.ts" } }],
  },
}`;

/** Returns the lines of README's block with this text. */
const linesOf = (text: string): string[] => {
  const block = documentBlocks("README.md").find(({ code }) => code.includes(text));
  return block?.code.trimEnd().split("\n") ?? [];
};
const [, PINGS = ""] = linesOf("/api/ping/copy");
const [PROGRAM = ""] = linesOf("signalbox run");
const [, INSTALL = ""] = linesOf("build:package");

describe("the npm package, installed in an empty folder", function () {
  this.timeout(300_000);
  /** The folder in which README's lines make the package. */
  let clone: string;
  /** The folder in which they install it. */
  let folder: string;
  let oldest: string;

  const installed = (path: string) => join(folder, "node_modules/signalbox", path);

  before(async () => {
    const room = mkdtempSync(join(tmpdir(), "signalbox-package-"));
    [clone, folder, oldest] = ["clone", "signalbox-try", "oldest"].map((name) => join(room, name)) as [
      string,
      string,
      string,
    ];
    for (const directory of [clone, oldest]) mkdirSync(directory);
    const node = `${OLDEST_NODE.name}@${OLDEST_NODE.version}`;
    await Promise.all([
      run(process.execPath, ["script/buildPackage.mjs", clone], {
        env: { ...process.env, GITHUB_REPOSITORY: "owner/name" },
      }),
      run("npm", ["install", "--no-save", node], { cwd: oldest, env: { ...process.env, ...NPM } }),
    ]);
    await run("sh", ["-c", INSTALL], { cwd: clone, env: { ...process.env, ...NPM } });
    mkdirSync(join(folder, "hooks/transforms"), { recursive: true });
    writeFileSync(join(folder, "hooks/transforms/build.ts"), TRANSFORM);
    writeFileSync(join(folder, "signalbox.json5"), CONFIG);
    writeFileSync(join(folder, "client.mjs"), CLIENT);
  });

  after(async () => {
    await closeBrowser();
    rmSync(dirname(folder), { recursive: true, force: true });
  });

  it("contains no TypeScript but declarations, and none of the packages for development", () => {
    const files = readdirSync(installed("."), { recursive: true }).map(String);
    const sources = files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"));
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const packages = readdirSync(join(folder, "node_modules"));

    expect(sources).to.deep.equal([]);
    expect(files).to.include.members(["lib/client/client.d.ts", "lib/cli/main.js.map", "dist/dashboard/index.html"]);
    expect(packages).to.not.include.members(["typescript", "mocha", "vite"]);
    expect(devDependencies).to.include.keys("typescript", "mocha");
    expect(dependencies).to.include.keys("vite"); // a clone builds the dashboard, the package contains it
  });

  it("names the repository of the workflow, and README links to its files", () => {
    const { repository, scripts, version } = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    const readme = readFileSync(installed("README.md"), "utf8");
    const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);

    expect(repository).to.deep.equal({ type: "git", url: "git+https://github.com/owner/name.git" });
    expect(scripts).to.equal(undefined); // no prepack, which refuses to pack a clone
    expect(targets.filter((target) => !/^https:/.test(target))).to.deep.equal([]);
    expect(targets).to.include.members([
      `https://raw.githubusercontent.com/owner/name/v${version}/docs/screenshots/moving.webp`,
      `https://github.com/owner/name/blob/v${version}/docs/how-to/deploy.md`,
    ]);
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

  it("takes what docs/how-to/deploy.md says", async () => {
    const sizeMb = async (...options: string[]) =>
      Number.parseInt((await run("du", ["-sk", ...options, join(folder, "node_modules")])).stdout, 10) / 1_000;
    const text = readFileSync("docs/how-to/deploy.md", "utf8");
    const [, files, blocks] = /everything that it needs \| (\d+) MB, which take (\d+) MB/.exec(text) ?? [];

    expect(await sizeMb("--apparent-size")).to.be.closeTo(Number(files), 3);
    expect(await sizeMb()).to.be.closeTo(Number(blocks), 4);
  });

  it("does what README says, from the first ping to the client", async () => {
    const reader = await Reader.withPackages(join(folder, "node_modules"));
    await followPage(reader, "README.md").finally(() => reader.close());
  });

  if (IN_FULL)
    it("starts from its file alone in another empty folder, without an installation", async () => {
      const other = join(dirname(folder), "other");
      mkdirSync(other);
      const [file = ""] = readdirSync(clone);
      copyFileSync(join(clone, file), join(other, file));
      // A person confirms npx's question whether to install the package.
      const confirmed = { npm_config_yes: "true" };
      const env = { ...process.env, ...NPM, ...confirmed, PATH: [dirname(process.execPath), PATH].join(delimiter) };
      const service = startShell(`npx ./${file} start`, env, other);
      try {
        const url = await service.ready(240_000);
        const { status } = await fetch(`${url}/api/ping/hello/done`, { method: "POST" });

        expect(status).to.equal(200);
        expect(existsSync(join(other, ".signalbox/mongodb"))).to.equal(true);
      } finally {
        service.kill("SIGTERM");
        await service.ended;
      }
    });

  for (const [title, bin, version] of [
    [`Node ${OLDEST_NODE.version}`, () => join(oldest, "node_modules", OLDEST_NODE.name, "bin"), OLDEST_NODE.version],
    ["the Node of a clone", () => dirname(process.execPath), process.versions.node],
  ] as const)
    describe(`on ${title}`, () => {
      const browsers = new BrowserContexts();
      let service: Service;
      let url: string;
      let env: Record<string, string>;

      const shell = (commands: string) => run("sh", ["-c", commands], { cwd: folder, env });

      before(async () => {
        env = { ...NPM, PATH: [bin(), PATH].join(delimiter), HOME: folder };
        service = startShell("npx signalbox start", env, folder);
        url = await service.ready();
        env.SIGNALBOX_URL = url;
      });

      after(async () => {
        service?.kill("SIGTERM");
        await service?.ended;
        rmSync(join(folder, ".signalbox"), { recursive: true, force: true });
      });

      it("starts everything with its data in the working directory", async () => {
        const { stdout } = await shell("node --version");

        expect(stdout).to.equal(`v${version}\n`);
        expect(service.printed()).to.include("Signalbox is ready.").and.not.include("npm start");
        expect(existsSync(join(folder, ".signalbox/mongodb"))).to.equal(true);
        expect(existsSync(join(folder, ".signalbox/tools/bin/redis-server"))).to.equal(true);
      });

      const readme = async () => {
        const page = await browsers.openLive(url);
        const row = page.getByRole("row", { name: /copy/ });
        const progress = async () => Number(await row.getByRole("progressbar").getAttribute("aria-valuenow"));
        const commands = [PINGS, PROGRAM].map((block) => shell(block.replaceAll("http://127.0.0.1:3000", url)));

        const first = await eventually(progress, "a first ping");
        await row.getByText("Completed").waitFor();
        const [, { stdout } = {}] = await Promise.all(commands);
        await page.getByRole("row", { name: /Count/ }).getByText("Completed").waitFor();
        await browsers.closeAll();

        expect(first).to.be.below(80);
        expect(stdout).to.equal("1 of 3\n2 of 3\n3 of 3\n");
      };
      if (IN_FULL || version === OLDEST_NODE.version)
        it("makes bars move in the dashboard by the commands that README shows first", readme);

      it("gives a program the client: `signalbox/client`", async () => {
        const { stdout } = await shell(`node client.mjs ${url}`);

        expect(JSON.parse(stdout)).to.deep.equal({ status: "completed", output: { files: 3 } });
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

      it("serves the API's documentation and the guide", async () => {
        for (const path of ["/docs", "/guide/reference/api"]) {
          const response = await fetch(`${url}${path}`);
          await response.arrayBuffer();
          expect(response.status, path).to.equal(200);
        }
      });

      it("answers MCP, whose packages it contains a part of", async () => {
        const response = await fetch(`${url}/mcp`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
        });

        expect(await response.text()).to.include('"job_create"');
      });

      it("names in its errors the commands that need no clone", async () => {
        const away = { SIGNALBOX_URL: "http://127.0.0.1:2" };
        const signalbox = (words: string, variables = {}) =>
          run("sh", ["-c", `npx signalbox ${words}`], { cwd: folder, env: { ...env, ...variables } }).catch(
            (error) => error,
          );
        const [jobs, gmail] = await Promise.all([signalbox("jobs list", away), signalbox("webhooks gmail status")]);

        expect(jobs.stderr).to.include("Start it with `npx signalbox start`");
        expect([gmail.code, gmail.stderr]).to.deep.equal([1, `${GMAIL_MISSING}\n`]);
      });
    });
});
