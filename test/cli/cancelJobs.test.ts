import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { runInProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { useSharedApp } from "../support/useApp.ts";
import { follow, runCli } from "./service.ts";

describe("signalbox when jobs are cancelled", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  const jobs = (...args: string[]) => runInProcess(["jobs", ...args], env);
  const read = async (path: string) => (await app.call("GET", path)).body;

  it("jobs cancel requests it with the reason, and says so in one sentence", async () => {
    const { jobId, path } = await createJob(app, { name: "Import", message: "4 of 10" });

    const { code, stdout, stderr } = await jobs("cancel", jobId, "--reason", "Not needed");

    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: `Cancellation of ${jobId} is requested.\n`,
      stderr: "",
    });
    const shown = (await jobs("get", jobId)).stdout;
    expect(shown).to.match(/^Status +running, cancel requested, no report for \d+s$/m);
    expect(shown).to.match(/^Reason +Not needed$/m);
    expect(await read(path)).to.deep.include({ status: "running" });
    expect((await read(path)).cancel.reason).to.equal("Not needed");
  });

  it("jobs cancel --force fails the job at once, and prints it as JSON with --json", async () => {
    const { jobId, path } = await createJob(app);

    const { code, stdout } = await jobs("cancel", jobId, "--reason", "Gone", "--force", "--json");

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ ...(await read(path)), cancelRequested: true });
    expect(await read(path)).to.include({ status: "failed", message: "Cancelled: Gone" });
    expect((await jobs("get", jobId)).stdout).to.match(/^Status +failed \(cancelled\)$/m);
  });

  it("jobs cancel exits with 3 for a job that has ended or does not exist", async () => {
    const { jobId } = await createJob(app, { status: "completed" });

    const ended = await jobs("cancel", jobId);
    const missing = await jobs("cancel", "no-such-job");

    expect([ended.code, missing.code]).to.deep.equal([3, 3]);
    expect(ended.stderr).to.include(`The job "${jobId}" has already completed.`);
    expect(missing.stderr).to.include("There is no job");
  });

  it("jobs list shows failed jobs as cancelled, and only those with --status cancelled", async () => {
    const team = randomUUID();
    const cancelled = await createJob(app, { metadata: { team } });
    await createJob(app, { metadata: { team }, status: "failed" });
    await app.call("POST", `${cancelled.path}/cancel`, { force: true });

    const all = await jobs("list", "--metadata", `team=${team}`);
    const only = await jobs("list", "--metadata", `team=${team}`, "--status", "cancelled");

    expect(all.stdout.match(/ (cancelled|failed) /g)).to.deep.equal([" failed ", " cancelled "]);
    expect(only.stdout.trimEnd().split("\n")).to.have.length(2);
    expect(only.stdout).to.include(cancelled.jobId);
  });

  it("jobs list refuses --status cancelled beside another status", async () => {
    const { code, stderr } = await jobs("list", "--status", "cancelled", "--status", "running");

    expect(code).to.equal(2);
    expect(stderr).to.include("--status cancelled cannot be used with another --status");
  });

  it("jobs watch prints the request, and the end as cancelled with exit code 1", async () => {
    const { jobId, path } = await createJob(app, { message: "begun" });
    const watching = follow(["jobs", "watch", jobId], env);
    await watching.prints(/begun/);

    await app.call("POST", `${path}/cancel`, { reason: "Not needed" });
    await watching.prints(/cancel requested/);
    await report(app, path, "s", { status: "failed", failJob: true, message: "Cancelled: Not needed" });
    const { code, stdout } = await watching.ended;

    expect(code).to.equal(1);
    expect(stdout).to.match(/ 0 % {2}running {4}\(cancel requested, no report for \d+s\) begun$/m);
    expect(stdout).to.match(/ 0 % {2}cancelled {2}Cancelled: Not needed$/m);
  });

  it("run sends SIGTERM to its program, and reports the cancellation as its failure", async () => {
    const jobId = `program-${randomUUID()}`;
    const script = "setInterval(() => console.log('working'), 20)";
    const running = runCli(["run", "--job", jobId, "--", process.execPath, "-e", script], env);
    await eventually(async () => (await read(`/api/jobs/${jobId}`)).currentStep, "the program to run");

    await app.call("POST", `/api/jobs/${jobId}/cancel`, { reason: "Not needed" });
    const { code } = await running.ended;

    expect(code).to.equal(143);
    expect(await read(`/api/jobs/${jobId}`)).to.include({ status: "failed", message: "Cancelled: Not needed" });
  });
});
