import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { type Client, createClient, SignalboxError } from "../../src/client/client.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { answers, breaks, startChannelServer } from "../support/servers/channelServer.ts";
import { useShortBackoff } from "./shortBackoff.ts";

describe("signalbox/client run()", () => {
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

  it("completes the step and its job with the output that the work returned", async () => {
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

  it("completes a step without output if its range does not end at 100", async () => {
    const job = await newJob();

    await job.step("s", { name: "S", from: 0, to: 50 }).run(() => {});

    expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "completed", progress: 100 });
    expect(await client.jobs.get(job.jobId)).to.include({ status: "running", progress: 50 });
  });

  it("reports the error's message without its stack, and throws the error again", async () => {
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

  it("fails the job too with failJob, and truncates a long message", async () => {
    const job = await newJob();

    await thrown(job.step("s", whole).run(() => Promise.reject(new Error("long ".repeat(100_000))), { failJob: true }));

    const { status, message } = await client.jobs.get(job.jobId);
    expect(status).to.equal("failed");
    expect(message)
      .to.match(/^long long/)
      .and.have.lengthOf(1_000);
  });

  const strangeErrors: [string, unknown, string][] = [
    ["undefined", undefined, "undefined"],
    ["a symbol", Symbol("no"), "Symbol(no)"],
    ["an object without a prototype", Object.create(null), "Unknown error"],
    ["an object whose text cannot be made", { toString: () => Object.create(null) }, "Unknown error"],
    ["an error whose message is a number", { message: 5 }, "5"],
  ];
  for (const [what, error, message] of strangeErrors)
    it(`fails the step if the work throws ${what}`, async () => {
      const job = await newJob();

      const caught = await job
        .step("s", whole)
        .run(
          () => {
            throw error;
          },
          { failJob: 1 as never },
        )
        .catch((error: unknown) => ({ error }));

      expect(caught).to.deep.equal({ error });
      expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "failed", message });
      expect(await client.jobs.get(job.jobId)).to.include({ status: "failed" });
    });

  it("counts a second run of a failed step as its second attempt", async () => {
    const job = await newJob();
    const step = job.step("s", whole);

    await thrown(step.run(() => Promise.reject(new Error("no"))));
    await step.run(async () => ({ ok: true }));

    expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "completed", attempts: 2 });
  });

  it("drops reports after the end, so that they do not restart the step or the job", async () => {
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

  it("passes the signal to the work, and reports its abort as the failure", async () => {
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

  it("reports the failure of a run that was aborted before its start was accepted", async () => {
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

    const reports = server.requests
      .slice(-2)
      .map(({ body: { status, message, failJob } }) => [status, message, failJob]);
    expect([message, worked]).to.deep.equal(["enough", 0]);
    expect(reports).to.deep.equal([
      ["running", undefined, undefined],
      ["failed", "Aborted: enough", true],
    ]);
    await server.close();
  });

  it("does no work for a missing job or with an aborted signal", async () => {
    let worked = 0;
    const work = async () => ({ worked: ++worked });

    const error = await thrown(client.job("no such job").step("s", whole).run(work));
    await thrown((await newJob()).step("s", whole).run(work, { signal: AbortSignal.abort() }));

    expect(error).to.be.instanceOf(SignalboxError).and.include({ code: "job_not_found" });
    expect(worked).to.equal(0);
  });

  it("fails if the work returns no output but the job needs one", async () => {
    const job = await newJob();

    const error = await thrown(job.step("s", whole).run(() => {}));

    expect(error).to.include({ code: "output_required" });
    const { status, message } = await client.jobs.step(job.jobId, "s");
    expect(status).to.equal("failed");
    expect(message).to.include("output is required");
  });

  it("does not report finished work as failed because the service is unavailable", async () => {
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

  it("completes and fails a job without steps", async () => {
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
