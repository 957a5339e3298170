import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { parse } from "yaml";
import { startApp, type TestApp } from "../support/app.ts";

const TOKEN = "an-api-token-of-length";
const AUTH = { Authorization: `Bearer ${TOKEN}` };
const AWAY = "http://127.0.0.1:9";

describe("the examples in shell", () => {
  let app: TestApp;
  let open: TestApp;
  let home: string;
  before(async () => {
    [app, open] = await Promise.all([startApp({ apiToken: TOKEN }), startApp()]);
    home = mkdtempSync(join(tmpdir(), "signalbox-shells-"));
  });
  after(async () => {
    await Promise.all([app.close(), open.close()]);
    rmSync(home, { recursive: true, force: true });
  });

  const run = async (command: string, args: readonly string[], env: Record<string, string> = {}, cwd?: string) => {
    const variables = {
      PATH: process.env.PATH,
      no_proxy: "*",
      SIGNALBOX_URL: app.url,
      SIGNALBOX_API_TOKEN: TOKEN,
      ...env,
    };
    const child = spawn(command, args, { env: variables, cwd, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { code, stdout, stderr };
  };
  const find = async (from: TestApp, prefix: string) =>
    (await from.call("GET", `/api/jobs?jobId=${prefix}`, undefined, AUTH)).body.jobs;
  const script = (name: string, content: string) => {
    writeFileSync(join(home, name), `#!/bin/sh\n${content}\n`);
    chmodSync(join(home, name), 0o755);
  };

  describe("cron/report.sh", () => {
    const report = (args: readonly string[], env = {}) => run("examples/cron/report.sh", args, env);

    it("reports each run of a command as a job, with the end of its output", async () => {
      const first = await report(["nightly", "sh", "-c", "seq 30; echo '@done: 50 %'"]);
      const second = await report(["nightly", "sh", "-c", "echo broken >&2; exit 3"]);

      expect([first.code, first.stdout.split("\n").length, first.stderr]).to.deep.equal([0, 32, ""]);
      expect([second.code, second.stdout]).to.deep.equal([3, "broken\n"]);
      const [failed, completed] = await find(app, "nightly");
      expect([completed.jobId, completed.status, completed.output.exitCode]).to.deep.equal(["nightly", "completed", 0]);
      expect(completed.output.message).to.match(/^12\n[\s\S]*\n@done: 50 %$/);
      expect(failed.jobId).to.match(/^nightly-\d{8}T\d+Z$/);
      expect([failed.status, failed.message]).to.deep.equal(["failed", "broken"]);
    });

    it("runs the command as usual while the service is unavailable", async () => {
      const { code, stdout } = await report(["nightly", "sh", "-c", "echo on; exit 4"], { SIGNALBOX_URL: AWAY });

      expect([code, stdout]).to.deep.equal([4, "on\n"]);
    });
  });

  it("cron/crontab has lines that report", async () => {
    script("backup.sh", "echo backed up");
    script("clean.sh", "exit 2");
    const lines = readFileSync("examples/cron/crontab", "utf8").matchAll(/^[\d*]+ [\d*]+ \* \* \* (.+)$/gm);
    const commands = [...lines].map(([, command = ""]) => command);
    expect(commands.filter((command) => command.includes("%"))).to.deep.equal([]); // a new line for cron
    for (const command of commands) {
      const local = command
        .replace("/srv/report.sh", resolve("examples/cron/report.sh"))
        .replaceAll("/srv/", `${home}/`);
      await run("sh", ["-c", local], { SIGNALBOX_URL: open.url });
    }

    const [[backup], [clean]] = [await find(open, "backup"), await find(open, "clean")];
    expect([backup.status, backup.output.message]).to.deep.equal(["completed", "backed up"]);
    expect([clean.status, clean.message]).to.deep.equal(["failed", "Exit code 2"]);
  });

  describe("make/Makefile", () => {
    const make = (job: string, env = {}) =>
      run("make", ["-f", "examples/make/Makefile"], { SIGNALBOX_URL: open.url, JOB: job, ...env });

    it("completes the job of a build", async () => {
      const { code, stderr } = await make("make-good");

      expect(code, stderr).to.equal(0);
      const [job] = await find(open, "make-good");
      expect([job.status, job.progress, job.message]).to.deep.equal(["completed", 100, "Check"]);
    });

    it("fails the job of a build that fails, with its exit code", async () => {
      const { code } = await make("make-bad", { CHECK: "exit 7" });

      expect(code).to.equal(2);
      const [job] = await find(open, "make-bad");
      expect([job.status, job.progress, job.message]).to.deep.equal(["failed", 60, "Exit code 2"]);
    });

    it("builds while the service is unavailable", async () => {
      const { stdout } = await make("make-away", { SIGNALBOX_URL: AWAY });

      expect(stdout).to.include("compiled\n").and.include("checked\n");
    });
  });

  describe("kubernetes/job.yaml", () => {
    const { apiVersion, kind, spec } = parse(readFileSync("examples/kubernetes/job.yaml", "utf8"));
    const [container] = spec.template.spec.containers;
    const start = (pod: string, work: string, url = app.url) =>
      run(container.command[0], [...container.command.slice(1), ...container.args], {
        JOB: pod,
        WORK: work,
        SIGNALBOX_URL: url,
      });

    it("is a Job whose container defines each variable of its script", () => {
      expect([apiVersion, kind, spec.template.spec.restartPolicy]).to.deep.equal(["batch/v1", "Job", "Never"]);
      const names = container.env.map(({ name }: { name: string }) => name);
      const used = [...container.args[0].matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name);
      expect(names).to.have.members([...new Set(used)]);
    });

    it("reports the start and the end of the work, and exits as the work does", async () => {
      const good = await start("backup-x1", "true");
      const bad = await start("backup-x2", "exit 5");
      const away = await start("backup-x3", "exit 6", AWAY);

      expect([good.code, bad.code, away.code]).to.deep.equal([0, 5, 6]);
      const [second, first] = await find(app, "backup-x");
      expect([first.status, second.status, second.message]).to.deep.equal(["completed", "failed", "Exit code 5"]);
    });
  });
});
