import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { DataDirectoryLock } from "../../src/cli/start/dataDirectoryLock.ts";
import { runProgram } from "../examples/program.ts";
import { runInProcess } from "../support/cli.ts";
import { freePort } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";

const API_TOKEN = "a-full-token-of-24-chars";
const HOOK_TOKEN = "a-hook-token-of-24-chars";

describe("the service that a command calls", () => {
  const app = useSharedApp({
    apiToken: API_TOKEN,
    config: `{ hooks: { enabled: true, token: "${HOOK_TOKEN}" } }`,
  });
  let cwd: string;
  let configured: string;

  /** Makes a folder whose configuration names another port than that of the service, and its tokens. */
  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), "signalbox-folder-"));
    const port = await freePort();
    configured = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(cwd, "signalbox.json5"),
      `{ server: { port: ${port}, apiToken: "${API_TOKEN}" }, hooks: { enabled: true, token: "${HOOK_TOKEN}" } }`,
    );
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  /** Makes the folder one in which an instance at this address runs: this process. */
  const runInstance = async (url = app.url) => {
    const lock = await DataDirectoryLock.acquire(join(cwd, ".signalbox"));
    lock.setUrl(url);
  };
  const run = (command: string, env: Record<string, string> = {}) =>
    runInProcess(command.split(" "), { PORT: "", ...env }, { cwd });

  const commands = [
    "status",
    "open",
    "jobs list",
    "runs list",
    "deliveries list",
    "gates list",
    "sessions list",
    "hooks list",
    "hooks send wake --text hello",
    "jobs put report-7 --name Report",
    "run -- true",
  ];
  for (const command of commands) {
    it(`is the instance that runs in its folder, at another port than the configured one: ${command}`, async () => {
      await runInstance();

      const { code, stderr } = await run(command);

      expect(code, stderr).to.equal(0);
    });
  }

  for (const command of ["jobs list", "hooks send wake --text hello", "run -- true"]) {
    it(`is the instance that runs in a folder without a configuration file: ${command}`, async () => {
      await runInstance();
      rmSync(join(cwd, "signalbox.json5"));
      writeFileSync(join(cwd, ".signalbox", "hooks-token"), HOOK_TOKEN);

      const { code, stderr } = await run(command, { SIGNALBOX_API_TOKEN: API_TOKEN });

      expect(code, stderr).to.equal(0);
    });
  }

  it("is found without the schema of the configuration, which takes long to load, where no file needs it", async () => {
    await runInstance();
    rmSync(join(cwd, "signalbox.json5"));
    const hook =
      'import { registerHooks } from "node:module"; registerHooks({ load: (url, context, next) => { if (/\\/(ajv|typebox)\\//.test(url)) console.log("loads", url); return next(url, context); } });';
    const list = async (env: Record<string, string>) => {
      const preload = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
      const all = { SIGNALBOX_API_TOKEN: API_TOKEN, SIGNALBOX_URL: "", NODE_OPTIONS: preload, PORT: "", ...env };
      return runProgram("src/cli/main.ts", ["jobs", "list", "--json"], all, cwd).ended;
    };

    const [ofFolder, named] = await Promise.all([list({}), list({ SIGNALBOX_URL: app.url })]);

    expect([ofFolder.code, named.code], ofFolder.stderr + named.stderr).to.deep.equal([0, 0]);
    expect(ofFolder.stdout + named.stdout).to.not.include("loads");
  });

  it("is the configured one if the instance of the folder has ended", async () => {
    mkdirSync(join(cwd, ".signalbox"));
    const ended = { pid: process.pid, identity: "another process", url: app.url, children: [] };
    writeFileSync(join(cwd, ".signalbox", "instance.json"), JSON.stringify(ended));

    const { code, stderr } = await run("jobs list");

    expect(code).to.equal(3);
    expect(stderr)
      .to.include(`The service at ${configured} cannot be reached`)
      .and.include("Start it with `npm start`");
  });

  for (const [title, options, env] of [
    ["--url", (url: string) => ` --url ${url}`, () => ({})],
    ["SIGNALBOX_URL", () => "", (url: string) => ({ SIGNALBOX_URL: url })],
  ] as const) {
    it(`is that of ${title} although an instance runs in its folder, and gets no token of the configuration`, async () => {
      await runInstance(configured);

      const { code, stderr } = await run(`jobs list${options(app.url)}`, env(app.url));

      expect(code).to.equal(3);
      expect(stderr).to.include(`The service at ${app.url} requires its API token`);
    });
  }

  it("is that of the folder for the example too, which leaves no file there and needs no error of the service", async () => {
    await runInstance();
    mkdirSync(join(cwd, "notes"));
    writeFileSync(join(cwd, "notes", "one.txt"), "words\n");
    const before = readdirSync(cwd);
    const env = { SIGNALBOX_URL: "", SIGNALBOX_API_TOKEN: "", PORT: "" };

    const { code, stdout, stderr } = await runProgram("examples/pipeline/main.ts", ["notes", "--fast"], env, cwd).ended;

    expect([code, stderr]).to.deep.equal([0, ""]);
    const [, report = "", jobId = ""] = /^done: (.*)\n.*\/jobs\/(.*)$/m.exec(stdout) ?? [];
    expect(existsSync(report)).to.equal(true);
    expect(readdirSync(cwd)).to.deep.equal(before);
    const requests = app.log.filter(({ path }) => String(path).includes(jobId));
    expect(requests).to.not.be.empty;
    expect(requests.filter(({ status }) => Number(status) >= 400)).to.deep.equal([]);
    rmSync(dirname(report), { recursive: true });
  });
});
