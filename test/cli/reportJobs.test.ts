import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { runInProcess } from "../support/cli.ts";
import { createJob } from "../support/factories.ts";
import { freePort } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";

describe("signalbox jobs put and report", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  const jobs = (...args: string[]) => runInProcess(["jobs", ...args], env);
  const read = async (path: string) => (await app.call("GET", path)).body;
  const QUIET = { code: 0, stdout: "", stderr: "" };

  it("report a job with several steps from its creation to its completion, as a shell script does", async () => {
    const jobId = `backup/${randomUUID()}`;
    const path = `/api/jobs/${encodeURIComponent(jobId)}`;
    const dump = ["report", jobId, "dump", "--name", "Dump", "--from", "0", "--to", "60"];
    const upload = ["report", jobId, "upload", "--from", "60", "--to", "100"];

    const created = await jobs("put", jobId, "--name", "Backup", "--metadata", "host=db1", "--input", '{"full": true}');
    const halfway = await jobs(...dump, "--progress", "50", "--message", 'table "a\\b" of 24');
    const between = await read(`${path}?include=steps`);
    const dumped = await jobs(...dump, "--status", "completed", "--output", '{"tables": 24}');
    const uploaded = await jobs(...upload, "--status", "completed", "--message", "70 MB");

    for (const result of [created, halfway, dumped, uploaded]) expect(result).to.deep.equal(QUIET);
    expect(between).to.deep.include({ name: "Backup", metadata: { host: "db1" }, input: { full: true }, progress: 30 });
    expect(between.steps[0]).to.include({ stepName: "Dump", status: "running", message: 'table "a\\b" of 24' });
    const ended = await read(`${path}?include=steps`);
    expect(ended).to.deep.include({ status: "completed", progress: 100, output: { message: "70 MB" } });
    expect(ended.steps.map((step: { stepName: string }) => step.stepName)).to.deep.equal(["Dump", "upload"]);
  });

  it("report fails a step and, with --fail-job, its job; a new start of the step is a second attempt", async () => {
    const { jobId, path } = await createJob(app);

    await jobs("report", jobId, "dump", "--status", "failed", "--message", "The disk is full");
    const first = await read(path);
    await jobs("report", jobId, "dump", "--status", "running", "--message", "Again");
    await jobs("report", jobId, "dump", "--status", "failed", "--fail-job");

    expect(first).to.include({ status: "running" });
    expect(await read(path)).to.include({ status: "failed" });
    expect(await read(`${path}/steps/dump`)).to.include({ status: "failed", message: "Failed", attempts: 2 });
  });

  it("report starts a step without further options, and stores an output while it runs", async () => {
    const { jobId, path } = await createJob(app);

    await jobs("report", jobId, "dump");
    const started = await read(`${path}/steps/dump`);
    await jobs("report", jobId, "dump", "--status", "running", "--progress", "10", "--output", '{"tables": 3}');

    expect(started).to.include({ status: "running", progress: 0, message: null });
    expect(await read(`${path}/steps/dump`)).to.deep.include({ progress: 10, output: { tables: 3 } });
  });

  it("put changes only the given fields, completes a job without steps, and prints it with --json", async () => {
    const { jobId, path } = await createJob(app, { name: "Import", metadata: { team: "sales" } });

    const change = ["--progress", "40", "--message", "4 of 10", "--stale-after", "60", "--output", '{"rows": 4}'];
    await jobs("put", jobId, ...change);
    const running = await read(path);
    const { code, stdout } = await jobs("put", jobId, "--status", "completed", "--message", "10 rows", "--json");

    expect(running).to.deep.include({
      name: "Import",
      metadata: { team: "sales" },
      progress: 40,
      staleAfterSeconds: 60,
    });
    expect([code, JSON.parse(stdout)]).to.deep.equal([0, await read(path)]);
    expect(await read(path)).to.deep.include({ status: "completed", message: "10 rows", output: { rows: 4 } });
  });

  it("both report what they are given, and exit with 1 and the reason once cancellation is requested", async () => {
    const { jobId, path } = await createJob(app);
    await app.call("POST", `${path}/cancel`, { reason: "Not needed" });

    const report = await jobs("report", jobId, "dump", "--progress", "20");
    const put = await jobs("put", jobId, "--message", "At work");
    const failed = await jobs("report", jobId, "dump", "--status", "failed", "--fail-job");

    const stop = "Cancellation of the job is requested: Not needed. Stop the work, and report it as failed.\n";
    expect(report).to.deep.equal({ code: 1, stdout: "", stderr: stop });
    expect(put).to.deep.equal({ code: 1, stdout: "", stderr: stop });
    expect(failed).to.deep.equal(QUIET);
    expect(await read(`${path}/steps/dump`)).to.include({ progress: 20, status: "failed" });
  });

  it("report exits with 3 for a job that does not exist, and for a service that stays away", async () => {
    const away = { SIGNALBOX_URL: `http://127.0.0.1:${await freePort()}` };

    const missing = await jobs("report", randomUUID(), "dump", "--progress", "5");
    const unreachable = await runInProcess(["jobs", "put", "a", "--wait", "0"], away);

    expect(missing.code).to.equal(3);
    expect(missing.stderr).to.match(/^There is no job "\S+"\. Create it before its first report\.$/m);
    expect(unreachable.code).to.equal(3);
    expect(unreachable.stderr).to.match(/cannot be reached \(ECONNREFUSED\)/);
  });
});
