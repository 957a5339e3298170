import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { type Client, createClient, SignalboxError } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { answers, breaks, startChannelServer } from "../support/channelServer.ts";
import { eventually } from "../support/eventually.ts";
import { useShortBackoff } from "./shortBackoff.ts";

describe("signalbox/client: run()", () => {
  useShortBackoff();
  let app: TestApp;
  let client: Client;
  before(async () => {
    app = await startApp();
    client = createClient({ url: app.url });
  });
  after(async () => {
    await client.close();
    await app.close();
  });

  const newJob = async () => {
    const job = client.job(randomUUID());
    await job.create({ name: "A job" });
    return job;
  };
  const whole = { name: "S", from: 0, to: 100 };
  const thrown = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it succeeded"),
      (error: Error) => error,
    );

  it("reports the completion with what the work returned, and the job with it", async () => {
    const job = await newJob();

    const output = await job.step("s", whole).run(
      async (step) => {
        step.progress(50, "half");
        await step.flush();
        return { rows: 3, seen: (await client.jobs.get(job.jobId)).progress };
      },
      { startMessage: "begun", message: "done" },
    );

    const { status, message, output: kept } = await client.jobs.get(job.jobId);
    expect(output).to.deep.equal({ rows: 3, seen: 50 });
    expect({ status, message, kept }).to.deep.equal({ status: "completed", message: "done", kept: output });
  });

  it("reports a completion without output where none is needed", async () => {
    const job = await newJob();

    await job.step("s", { name: "S", from: 0, to: 50 }).run(() => {});

    expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "completed", progress: 100 });
    expect(await client.jobs.get(job.jobId)).to.include({ status: "running", progress: 50 });
  });

  it("reports the failure in the error's words, without its stack, and throws the error again", async () => {
    const job = await newJob();
    const broken = new RangeError("row 7 has no date");

    const error = await thrown(
      job.step("s", whole).run(async (step) => {
        step.progress(30, "row 6");
        throw broken;
      }),
    );

    expect(error).to.equal(broken);
    expect(await client.jobs.step(job.jobId, "s")).to.include({
      status: "failed",
      progress: 30,
      message: broken.message,
    });
    expect(await client.jobs.get(job.jobId)).to.include({ status: "running", progress: 30 });
  });

  it("fails the job, too, with failJob; a long message is cut", async () => {
    const job = await newJob();

    await thrown(job.step("s", whole).run(() => Promise.reject(new Error("long ".repeat(100_000))), { failJob: true }));

    const { status, message } = await client.jobs.get(job.jobId);
    expect(status).to.equal("failed");
    expect(message)
      .to.match(/^long long/)
      .and.have.lengthOf(1_000);
  });

  it("a second run of a failed step is its second attempt", async () => {
    const job = await newJob();
    const step = job.step("s", whole);

    await thrown(step.run(() => Promise.reject(new Error("no"))));
    await step.run(async () => ({ ok: true }));

    expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "completed", attempts: 2 });
  });

  it("what is said after the end, by work that was not waited for, is left out: it would run again", async () => {
    const job = await newJob();
    const step = job.step("s", whole);
    const others = new AbortController();

    await thrown(
      step.run((step) => {
        others.signal.addEventListener("abort", () => step.progress(80, "8 of 10"));
        return Promise.reject(new Error("row 3 has no date"));
      }),
    );
    others.abort();
    await step.flush();
    await thrown(job.run(() => Promise.reject(new Error("row 3 has no date"))));
    job.progress(90, "9 of 10");
    await job.flush();

    const { status, attempts, progress, message } = await client.jobs.step(job.jobId, "s");
    expect({ status, attempts, progress }).to.deep.equal({ status: "failed", attempts: 1, progress: 0 });
    expect(message).to.equal("row 3 has no date");
    expect(await client.jobs.get(job.jobId)).to.include({ status: "failed", progress: 0, message });
  });

  it("an aborted one fails with a message that says so, and the work sees the signal", async () => {
    const job = await newJob();
    const controller = new AbortController();

    const running = thrown(
      job.step("s", whole).run(
        async (_step, signal) => {
          controller.abort(new Error("the machine is shut down"));
          signal.throwIfAborted();
        },
        { signal: controller.signal },
      ),
    );

    expect((await running).message).to.equal("the machine is shut down");
    const { status, message } = await client.jobs.step(job.jobId, "s");
    expect({ status, message }).to.deep.equal({ status: "failed", message: "Aborted: the machine is shut down" });
  });

  it("one that is aborted while it begins has failed, too, once the service is back", async () => {
    const server = await startChannelServer(breaks);
    const client = createClient({ url: server.url });
    const controller = new AbortController();
    let worked = 0;
    const work = async () => ({ worked: ++worked });

    const running = thrown(client.job("j").step("s", whole).run(work, { signal: controller.signal, failJob: true }));
    await eventually(() => server.requests.length > 0, "a request");
    controller.abort(new Error("enough"));
    const { message } = await running;
    server.script(answers(200, {}), answers(200, {}));
    await client.close();

    const told = server.requests.slice(-2).map(({ body: { status, message, failJob } }) => [status, message, failJob]);
    expect([message, worked]).to.deep.equal(["enough", 0]);
    expect(told).to.deep.equal([
      ["running", undefined, undefined],
      ["failed", "Aborted: enough", true],
    ]);
    await server.close();
  });

  it("does no work for a job that does not exist, or once it is aborted", async () => {
    let worked = 0;
    const work = async () => ({ worked: ++worked });

    const error = await thrown(client.job("no such job").step("s", whole).run(work));
    await thrown((await newJob()).step("s", whole).run(work, { signal: AbortSignal.abort() }));

    expect(error).to.be.instanceOf(SignalboxError).and.include({ code: "job_not_found" });
    expect(worked).to.equal(0);
  });

  it("work that brings no output where one is needed has failed", async () => {
    const job = await newJob();

    const error = await thrown(job.step("s", whole).run(() => {}));

    expect(error).to.include({ code: "output_required" });
    const { status, message } = await client.jobs.step(job.jobId, "s");
    expect(status).to.equal("failed");
    expect(message).to.include("output is required");
  });

  it("work that is done has not failed because the service is away", async () => {
    const server = await startChannelServer();
    const client = createClient({ url: server.url, retryForMs: 0 });
    const step = client.job("j").step("s", whole);

    const error = await thrown(
      step.run(async () => {
        server.script(answers(503));
        return { ok: true };
      }),
    );

    expect(error).to.include({ status: 503 });
    expect(server.requests.map(({ body }) => body.status)).to.deep.equal(["completed"]);
    await server.close();
  });

  it("runs a job without steps", async () => {
    const [done, failed] = [await newJob(), await newJob()];

    await done.run(async (job) => {
      job.progress(40);
      return { ok: true };
    });
    await thrown(failed.run(() => Promise.reject(new Error("no"))));

    expect(await client.jobs.get(done.jobId)).to.deep.include({
      status: "completed",
      progress: 100,
      output: { ok: true },
    });
    expect(await client.jobs.get(failed.jobId)).to.include({ status: "failed", message: "no" });
  });
});
