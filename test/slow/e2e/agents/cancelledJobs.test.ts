import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import sinon from "sinon";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";

/** The program that answers as soon as the file `go` exists. */
const AGENT = "cat > /dev/null; touch begun; while [ ! -e go ]; do sleep 0.02; done; echo ok";

describe("a run with trackAsJob and its job", () => {
  let app: TestApp;
  let worker: TestWorker | undefined;
  let dir: string;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-agent-"));
    const file = join(dir, "agent.sh");
    writeFileSync(file, `#!/bin/sh\ncd ${dir}\n${AGENT}\n`);
    chmodSync(file, 0o755);
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}", allowRequestSessionKey: true },
        agents: { defaults: { runner: "command", trackAsJob: true }, runners: { command: { command: ["${file}"] } } },
      }`,
    });
  });
  afterEach(async () => {
    sinon.restore();
    await worker?.close();
    worker = undefined;
    await app.close();
    rmSync(dir, { recursive: true });
  });

  const accept = async (): Promise<string> => {
    const body = { message: "x", sessionKey: "s", deliver: false, wakeMode: "next-heartbeat" };
    const answer = await app.call("POST", "/hooks/agent", body, { Authorization: `Bearer ${TOKEN}` });
    expect(answer.status).to.equal(202);
    return answer.body.runId;
  };
  const begun = () => eventually(() => existsSync(join(dir, "begun")), "the agent to begin");
  const job = async (id: string) => (await app.call("GET", `/api/jobs/${id}`)).body;
  const run = async (id: string) => (await app.call("GET", `/api/runs/${id}`)).body;
  const ended = (id: string) =>
    eventually(async () => {
      const read = await job(id);
      return read.status !== "running" && read;
    }, "the job to end");

  it("are both cancelled when the job is cancelled, with its reason", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();

    const { status, body } = await app.call("POST", `/api/jobs/${id}/cancel`, { reason: "Not needed" });
    const stopped = await run(id);
    const after = await ended(id);

    expect(status).to.equal(202);
    expect(body).to.deep.include({ status: "running", cancel: { ...after.cancel, reason: "Not needed" } });
    expect(stopped.error).to.deep.equal({ code: "cancelled", message: "Cancelled: Not needed" });
    expect(after).to.deep.include({ status: "failed", message: "Cancelled: Not needed", cancel: body.cancel });
    const { body: list } = await app.call("GET", "/api/jobs?cancelled=true");
    expect(list.jobs).to.have.length(1);
  });

  it("are both cancelled when the run is cancelled", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();

    const { body } = await app.call("POST", `/api/runs/${id}/cancel`);
    const requested = await job(id);
    const after = await ended(id);

    expect(body.error).to.deep.equal({ code: "cancelled", message: "The run was cancelled." });
    expect(requested.cancel.reason).to.equal(null);
    expect(after).to.deep.include({ status: "failed", message: "The run was cancelled.", cancel: requested.cancel });
  });

  for (const kind of ["jobs", "runs"])
    it(`are both cancelled before a worker took the run, by POST /api/${kind}/:id/cancel`, async () => {
      const id = await accept();

      const { status } = await app.call("POST", `/api/${kind}/${id}/cancel`);
      worker = await startWorker(app);
      const after = await ended(id);

      expect(status).to.equal(kind === "jobs" ? 202 : 200);
      expect(after.status).to.equal("failed");
      expect(after.cancel.reason).to.equal(null);
      expect((await run(id)).error.code).to.equal("cancelled");
      expect(existsSync(join(dir, "begun"))).to.equal(false);
    });

  it("are both cancelled, with the reason, if the process dies between the two writes", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();
    const dying = sinon.stub(app.stores.jobs, "cancel").rejects(new Error("the process died here"));

    const { status } = await app.call("POST", `/api/jobs/${id}/cancel`, { reason: "Not needed" });
    const between = await job(id);
    dying.restore();
    const after = await ended(id);

    expect(status).to.equal(500);
    expect(between).to.include({ status: "running", cancel: null });
    expect(after).to.deep.include({ status: "failed", message: "Cancelled: Not needed" });
    expect(after.cancel.reason).to.equal("Not needed");
  });

  it("answers 202 when a worker finalizes the cancelled run before the job is marked", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();
    const { jobs } = app.stores;
    const cancel = jobs.cancel.bind(jobs);
    const late = sinon.stub(jobs, "cancel").callsFake(async (...call) => {
      late.restore();
      await ended(id);
      return cancel(...call);
    });

    const { status, body } = await app.call("POST", `/api/jobs/${id}/cancel`, { reason: "Not needed" });

    expect(status).to.equal(202);
    expect(body).to.include({ status: "failed", message: "Cancelled: Not needed" });
    expect(body.cancel.reason).to.equal("Not needed");
  });

  it("are not cancelled any more once the run is retried", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();
    await app.call("POST", `/api/jobs/${id}/cancel`, { reason: "Not needed" });
    await ended(id);
    writeFileSync(join(dir, "go"), "");

    const { status } = await eventually(async () => {
      const answer = await app.call("POST", `/api/runs/${id}/retry`);
      return answer.status === 202 && answer;
    }, "the run to be finalized");
    const after = await eventually(async () => {
      const read = await job(id);
      return read.status === "completed" && read;
    }, "the run to complete");

    expect(status).to.equal(202);
    expect(after.cancel).to.equal(null);
    expect(await app.stores.runs.find(id)).to.not.have.property("cancelReason");
  });

  it("stay as they are when the job has ended: 409", async () => {
    worker = await startWorker(app);
    writeFileSync(join(dir, "go"), "");
    const id = await accept();
    const before = await ended(id);

    const { status, body } = await app.call("POST", `/api/jobs/${id}/cancel`);

    expect([status, body.code]).to.deep.equal([409, "job_ended"]);
    expect(await job(id)).to.deep.equal(before);
    expect((await run(id)).status).to.equal("completed");
  });

  it("fails at once when the cancellation of the job is forced, and stays failed", async () => {
    worker = await startWorker(app);
    const id = await accept();
    await begun();

    const { body } = await app.call("POST", `/api/jobs/${id}/cancel`, { reason: "Not needed", force: true });
    await eventually(async () => (await app.stores.runs.find(id)).finalized, "the run to be finalized");

    expect(body).to.include({ status: "failed", message: "Cancelled: Not needed" });
    expect(await job(id)).to.include({ status: "failed", message: "Cancelled: Not needed" });
    expect((await run(id)).error.code).to.equal("cancelled");
  });

  it("of another kind under the same id is left alone: a run without trackAsJob", async () => {
    const id = await accept();
    await app.stores.runs.collection.native.updateOne({ _id: id }, { $set: { "request.trackAsJob": false } });

    const { status } = await app.call("POST", `/api/jobs/${id}/cancel`);

    expect(status).to.equal(202);
    expect((await run(id)).status).to.equal("queued");
  });
});
