import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { hearsChanges } from "./hearsChanges.ts";
import { type Drawing, onScreen, type Size } from "./screen.ts";
import { follow } from "./service.ts";
import { atTerminal } from "./terminal.ts";

describe("signalbox jobs watch", () => {
  let app: TestApp;
  let env: Record<string, string>;
  const drawings: Drawing[] = [];
  before(async () => {
    app = await startApp();
    env = { SIGNALBOX_URL: app.url };
    await hearsChanges(app);
  });
  afterEach(() => Promise.all(drawings.splice(0).map(({ stop }) => stop())));
  after(() => app.close());
  const open = (args: string[], size: Size = {}, more = {}) => {
    const drawing = onScreen(["jobs", "watch", ...args], { ...env, ...more }, size);
    drawings.push(drawing);
    return drawing;
  };
  const complete = (path: string, body = {}) =>
    report(app, path, "last", { ...whole(100), status: "completed", output: { n: 1 }, ...body });

  describe("one job without a terminal", () => {
    it("prints a line for each change and exits with 0 when the job is completed", async () => {
      const { jobId, path } = await createJob(app, { message: "begun" });

      const watching = follow(["jobs", "watch", jobId], env);
      await watching.prints(/begun/);
      await report(app, path, "one", { ...whole(40), message: "two\x1b[2J of\nfive" });
      await watching.prints(/five/);
      await complete(path, { message: "done" });
      const { code, stdout, stderr } = await watching.ended;

      const time = "\\d{4}-\\d\\d-\\d\\dT\\S+Z";
      expect(stdout.trimEnd().split("\n")).to.have.length(3);
      expect(stdout).to.match(new RegExp(`^${time}  ${jobId}    0 %  running    begun$`, "m"));
      expect(stdout).to.match(new RegExp(`^${time}  ${jobId}   40 %  running    two�\\[2J of five$`, "m"));
      expect(stdout).to.match(new RegExp(`^${time}  ${jobId}  100 %  completed  done$`, "m"));
      expect([code, stderr]).to.deep.equal([0, ""]);
    });

    it("exits with 1 when the job fails", async () => {
      const { jobId, path } = await createJob(app);

      const watching = follow(["jobs", "watch", jobId], env);
      await watching.prints(/running/);
      await report(app, path, "one", { status: "failed", failJob: true, message: "no disk" });
      const { code, stdout } = await watching.ended;

      expect(code).to.equal(1);
      expect(stdout.trimEnd()).to.match(/failed {5}no disk$/);
    });

    it("exits at once if the job has ended, and with 3 if there is none", async () => {
      const failed = await createJob(app, { status: "failed" });

      const ended = await runInProcess(["jobs", "watch", failed.jobId], env);
      const none = await runInProcess(["jobs", "watch", "nobody"], env);

      expect([ended.code, none.code]).to.deep.equal([1, 3]);
      expect(none.stderr).to.equal('There is no job "nobody".\n');
    });

    it("exits with 3 when the job is deleted", async () => {
      const { jobId, path } = await createJob(app);

      const watching = follow(["jobs", "watch", jobId], env);
      await watching.prints(/running/);
      await app.call("DELETE", path);
      const { code, stderr } = await watching.ended;

      expect([code, stderr]).to.deep.equal([3, "The job was deleted.\n"]);
    });

    it("prints each event with --json, the last one with the output", async () => {
      const { jobId, path } = await createJob(app, { name: "evil\x9b31m" });

      const watching = follow(["jobs", "watch", jobId, "--json"], env);
      await watching.prints(/"type":"job"/);
      await complete(path);
      const { code, stdout } = await watching.ended;

      const events = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(code).to.equal(0);
      expect(stdout).to.not.match(/[^\P{Cc}\n]/u);
      expect(events[0]).to.deep.equal({ type: "state", data: { live: true } });
      expect(events[1]).to.deep.include({ type: "job" });
      expect(events[1].data).to.include({ jobId, status: "running", progress: 0, name: "evil\x9b31m" });
      expect(events.at(-1).data).to.deep.include({ status: "completed", progress: 100, output: { n: 1 } });
    });
  });

  describe("at a terminal", () => {
    it("draws one bar in place, leaves it there and exits with the job's result", async () => {
      const { jobId, path } = await createJob(app, { name: "evil\x1b]0;stolen\x07name" });

      const terminal = open([jobId], { columns: 60 });
      await terminal.shows(/░ +0 % {2}running/);
      await report(app, path, "one", { stepName: "Collect\x1b[2J", ...whole(50), message: "half\r\nway" });
      const half = await terminal.shows(/50 %.*\n.*Collect.*\n.*half way/);
      await report(app, path, "one", { status: "failed", failJob: true, message: "no disk" });
      const code = await terminal.ended;

      expect(half.split("\n")).to.have.length(5);
      const [, , bar = ""] = half.split("\n");
      expect(bar.match(/█/g)).to.have.length(Math.floor((bar.match(/[█░]/g) ?? []).length / 2));
      expect(code).to.equal(1);
      const left = await terminal.lines();
      expect(left).to.have.length(4);
      expect(left.join("\n")).to.match(new RegExp(`^evil.*name\n${jobId}\n█+░+ +50 % +failed +\\d+s\nno disk$`));
      expect(terminal.title()).to.equal("");
      expect(terminal.raw().endsWith("\x1b[?25h")).to.equal(true); // the cursor is back
    });

    it("draws a bar for each running and ended job, limited to the height of the terminal", async () => {
      const name = `board-${randomUUID()}`;
      const jobs = [];
      for (let i = 0; i < 12; i++)
        jobs.push(await createJob(app, { name, message: `message ${i} ${"漢字".repeat(30)}` }));
      const [oldest, second] = [jobs[0]?.path ?? "", jobs[1]?.path ?? ""];

      const size = { columns: 70, rows: 8 };
      const terminal = atTerminal(["jobs", "watch", "--name", name], env, size);
      const first = await terminal.shows(/12 running, 0 completed, 0 failed; 6 not shown$/);
      for (const { path } of jobs.slice(2)) await app.call("DELETE", path);
      await terminal.shows(/2 running, 0 completed, 0 failed$/);
      await report(app, oldest, "a", { ...whole(100), status: "completed", output: {}, message: "fine" });
      await report(app, second, "a", whole(30));
      const last = await terminal.shows(
        /30 % {2}running.*\n.*100 % {2}completed.*fine.*\n1 running, 1 completed, 0 failed$/,
      );
      terminal.type("\x03");
      const code = await terminal.ended;

      expect(first.split("\n")).to.have.length(7);
      expect(last.split("\n")).to.have.length(3); // nothing of the longer board is left
      expect(code).to.equal(130);
      expect(terminal.raw()).to.include("\x1b[?25h");
    });

    it("waits for a job if none runs, and then shows it", async () => {
      const name = `later-${randomUUID()}`;

      const terminal = open(["--name", name]);
      await terminal.shows(/^No job is running\. Waiting for one …$/);
      await createJob(app, { name });
      const shown = await terminal.shows(/1 running/);

      expect(shown).to.match(new RegExp(`^${name.slice(0, 12)}.* running `));
    });

    it("shows names and leaves ids out on a narrow terminal", async () => {
      const name = `narrow-${randomUUID().slice(0, 8)}`;
      const { jobId } = await createJob(app, { name, message: "120 of 240 rows" });

      const terminal = open(["--name", name], { columns: 60 });
      const shown = await terminal.shows(/1 running/);
      await terminal.stop();

      expect(shown)
        .to.match(new RegExp(`^${name} .* 120 of 240 …?`))
        .and.not.include(jobId.slice(0, 8));
    });

    it("leaves nothing of the wider lines when the terminal becomes narrower", async () => {
      const { jobId } = await createJob(app, { name: "n".repeat(70), message: "m".repeat(70) });

      const terminal = open([jobId], { columns: 80 });
      await terminal.shows(/m{70}/);
      await terminal.resize(40);
      await terminal.shows(/m{39}…/);
      await terminal.stop();

      const lines = await terminal.lines();
      expect(lines.filter((line) => /^(n|m)/.test(line))).to.deep.equal([`${"n".repeat(39)}…`, `${"m".repeat(39)}…`]);
    });

    it("shows a job as stale in time, without an event", async () => {
      const { jobId } = await createJob(app, { staleAfterSeconds: 1 });

      const terminal = open([jobId]);

      expect(await terminal.shows(/0 % {2}stale/)).to.match(new RegExp(`^${jobId}\n`));
    });

    it("shows that the connection to the service is lost", async () => {
      const service = await startApp();
      const { jobId } = await createJob(service);

      const terminal = open([jobId], {}, { SIGNALBOX_URL: service.url });
      await terminal.shows(/running/);
      await service.close();
      const shown = await terminal.shows(/trying again …$/);

      expect(shown).to.match(/running.*\n.*The connection to the service is lost; trying again …$/);
    });
  });

  it("prints a line for each change and deletion of many jobs", async () => {
    const name = `many-${randomUUID()}`;
    const one = await createJob(app, { name });

    const watching = follow(["jobs", "watch", "--name", name], env);
    await watching.prints(new RegExp(one.jobId));
    const other = await createJob(app, { name, message: "came later" });
    await watching.prints(/came later/);
    await report(app, one.path, "a", { status: "failed", failJob: true, message: "no disk" });
    await watching.prints(/failed +no disk/);
    await app.call("DELETE", other.path);
    await watching.prints(new RegExp(`${other.jobId} {2}removed`));
    watching.interrupt();

    expect((await watching.ended).code).to.equal(130);
  });

  it("rejects a job id together with filters", async () => {
    const { code, stderr } = await runInProcess(["jobs", "watch", "a", "--status", "failed"], env);

    expect([code, stderr]).to.deep.equal([2, "Pass a job id or filters, not both.\n"]);
  });
});
