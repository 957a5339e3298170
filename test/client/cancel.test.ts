import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { CancelledError, type Client, createClient, type JobReporter } from "../../src/client/client.ts";
import { type Program, runProgram } from "../examples/program.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { recordingClient } from "./recording.ts";
import { useShortBackoff } from "./shortBackoff.ts";

const WHOLE = { name: "S", from: 0, to: 100 };

describe("signalbox/client when a job is cancelled", () => {
  useShortBackoff();
  let app: TestApp;
  let client: Client;
  const errors: unknown[] = [];
  before(async () => {
    app = await startApp();
    client = createClient({ url: app.url, onError: (error) => errors.push(error) });
  });
  after(async () => {
    await client.close();
    await app.close();
  });
  beforeEach(() => {
    errors.length = 0;
  });

  const newJob = async (): Promise<JobReporter> => {
    const job = client.job(randomUUID());
    await job.create({ name: "A job" });
    return job;
  };
  const thrown = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it succeeded"),
      (error: unknown) => error,
    );

  describe("run()", () => {
    it("aborts the work's signal with a CancelledError at the next report, and fails step and job with the reason", async () => {
      const job = await newJob();
      let seen: unknown;

      const error = await thrown(
        job.step("s", WHOLE).run(async (step, signal) => {
          await client.jobs.cancel(job.jobId, { reason: "Not needed" });
          const before = signal.aborted;
          step.progress(50);
          await step.flush();
          seen = [before, signal.reason];
          signal.throwIfAborted();
        }),
      );

      expect(error).to.be.instanceOf(CancelledError);
      expect(error).to.include({ name: "CancelledError", message: "Cancelled: Not needed", reason: "Not needed" });
      expect(seen).to.deep.equal([false, error]);
      const { step, ...read } = await client.jobs.get(job.jobId, { stepKey: "s" });
      expect(read).to.include({ status: "failed", message: "Cancelled: Not needed" });
      expect(step).to.include({ status: "failed", message: "Cancelled: Not needed" });
    });

    it("reports the cancellation also if the work throws another error, which is thrown again", async () => {
      const job = await newJob();
      await client.jobs.cancel(job.jobId);

      const error = await thrown(
        job.step("s", { name: "S" }).run(
          async (_step, signal) => {
            signal.throwIfAborted();
          },
          { failJob: false },
        ),
      );
      const other = await newJob();
      const second = await thrown(
        other.step("s", WHOLE).run(async (step) => {
          await client.jobs.cancel(other.jobId, { reason: "x" });
          step.progress(50);
          await step.flush();
          throw new Error("The database connection was closed.");
        }),
      );

      expect(error).to.be.instanceOf(CancelledError).and.include({ message: "Cancelled", reason: null });
      expect(await client.jobs.get(job.jobId)).to.include({ status: "failed", message: "Cancelled" });
      expect((second as Error).message).to.equal("The database connection was closed.");
      expect(await client.jobs.get(other.jobId)).to.include({ status: "failed", message: "Cancelled: x" });
    });

    it("completes the job if the work returns in spite of the cancellation", async () => {
      const job = await newJob();

      const output = await job.step("s", WHOLE).run(async (step, signal) => {
        await client.jobs.cancel(job.jobId);
        step.progress(50);
        await step.flush();
        return { wasAborted: signal.aborted };
      });

      expect(output).to.deep.equal({ wasAborted: true });
      expect(await client.jobs.get(job.jobId)).to.deep.include({ status: "completed", output });
    });

    it("does not call the work if the job is cancelled before its start", async () => {
      const job = await newJob();
      await client.jobs.cancel(job.jobId, { reason: "Too late" });
      let worked = 0;

      const error = await thrown(job.step("s", WHOLE).run(async () => ({ worked: ++worked })));

      expect(error).to.be.instanceOf(CancelledError);
      expect(worked).to.equal(0);
      expect(await client.jobs.get(job.jobId)).to.include({ status: "failed", message: "Cancelled: Too late" });
    });

    it("keeps the reason of the caller's signal if that is aborted first", async () => {
      const job = await newJob();
      const controller = new AbortController();

      await thrown(
        job.step("s", WHOLE).run(
          async (step, signal) => {
            controller.abort(new Error("SIGTERM"));
            await client.jobs.cancel(job.jobId);
            step.progress(50);
            await step.flush();
            signal.throwIfAborted();
          },
          { signal: controller.signal },
        ),
      );

      expect(await client.jobs.step(job.jobId, "s")).to.include({ status: "failed", message: "Aborted: SIGTERM" });
    });

    it("works for a job without steps", async () => {
      const job = await newJob();

      await thrown(
        job.run(async (reporter, signal) => {
          await client.jobs.cancel(job.jobId, { reason: "x" });
          reporter.progress(50);
          await reporter.flush();
          signal.throwIfAborted();
        }),
      );

      expect(await client.jobs.get(job.jobId)).to.include({ status: "failed", message: "Cancelled: x" });
    });

    const workUntilCancelled = (one: Client, jobId: string) =>
      thrown(
        one
          .job(jobId)
          .step("s", WHOLE)
          .run(async (step, signal) => {
            await client.jobs.cancel(jobId, { reason: "Not needed" });
            for (const progress of [20, 40, 60]) {
              step.progress(progress);
              await step.flush();
            }
            signal.throwIfAborted();
          }),
      );

    it("reads the job only once", async () => {
      const { client: recorded, sent } = recordingClient({ url: app.url });

      await workUntilCancelled(recorded, (await newJob()).jobId);

      expect(sent.filter(({ method }) => method === "GET")).to.have.length(1);
      expect(sent.at(-1)?.body).to.include({ status: "failed", message: "Cancelled: Not needed", failJob: true });
    });

    it("reports `Cancelled` without the reason if it may not read the job", async () => {
      const withoutReads = createClient({
        url: app.url,
        fetch: (input, init) =>
          init?.method === "GET" ? Promise.resolve(new Response("{}", { status: 403 })) : fetch(input, init),
      });
      const { jobId } = await newJob();

      await workUntilCancelled(withoutReads, jobId);

      expect(await client.jobs.get(jobId)).to.include({ status: "failed", message: "Cancelled" });
      await withoutReads.close();
    });

    it("sends no further request for reports on a job that is not cancelled, nor after the work has ended", async () => {
      const { client: recorded, sent } = recordingClient({ url: app.url });
      const job = await newJob();

      await recorded
        .job(job.jobId)
        .step("s", WHOLE)
        .run(async () => {
          await client.jobs.cancel(job.jobId);
          return { ok: true };
        });

      expect(sent.map(({ method }) => method)).to.deep.equal(["PUT", "PUT"]);
    });
  });

  describe("onCancel()", () => {
    it("calls the listener once, without any report, and then stops reading", async () => {
      const { client: recorded, sent } = recordingClient({ url: app.url });
      const job = await newJob();
      const heard: CancelledError[] = [];
      recorded.job(job.jobId).onCancel((error) => heard.push(error), 5);
      await eventually(() => sent.length > 2, "some reads");

      await client.jobs.cancel(job.jobId, { reason: "x" });
      await eventually(() => heard.length > 0, "the listener to be called");

      expect(heard.map(({ message }) => message)).to.deep.equal(["Cancelled: x"]);
      await expectNoMore(sent);
      expect(heard).to.have.length(1);
    });

    it("calls the listener of a step at its next report, before any read", async () => {
      const job = await newJob();
      const step = job.step("s", WHOLE);
      const heard: CancelledError[] = [];
      step.onCancel((error) => heard.push(error), 3_600_000);
      await client.jobs.cancel(job.jobId, { reason: "x" });

      await step.start();

      expect(heard.map(({ message }) => message)).to.deep.equal(["Cancelled: x"]);
    });

    it("stops reading when it is stopped, when the job has ended, and when the client is closed", async () => {
      const job = await newJob();
      const recorded = Array.from({ length: 3 }, () => recordingClient({ url: app.url }));
      const heard: unknown[] = [];
      const stops = recorded.map(({ client: one }) => one.job(job.jobId).onCancel((error) => heard.push(error), 5));
      await eventually(() => recorded.every(({ sent }) => sent.length > 1), "some reads");

      stops[0]?.();
      await recorded[1]?.client.close();
      await job.fail("Broken");

      for (const { sent } of recorded) await expectNoMore(sent);
      expect(heard).to.deep.equal([]);
    });

    it("continues after errors that may pass, and stops at others; both are passed to onError", async () => {
      const job = await newJob();
      const statuses = [503, 503, 200, 404];
      const seen: unknown[] = [];
      let reads = 0;
      const flaky = createClient({
        url: app.url,
        onError: (error) => seen.push((error as { status: number }).status),
        fetch: (input, init) => {
          const status = statuses[reads++] ?? 500;
          return status === 200 ? fetch(input, init) : Promise.resolve(new Response("{}", { status }));
        },
      });

      flaky.job(job.jobId).onCancel(() => {}, 5);
      await eventually(() => seen.length === 3, "the last error");

      expect(seen).to.deep.equal([503, 503, 404]);
      await flaky.close();
      expect(reads).to.equal(4);
    });
  });

  describe("with a worker in another process", () => {
    let program: Program | undefined;
    afterEach(() => program?.kill());

    const startWorker = async (mode: string) => {
      const job = await newJob();
      program = runProgram("test/support/processes/cancellableWorker.ts", [app.url, job.jobId, mode]);
      await program.hasPrinted; // The job shows the step before the worker has the answer to its first report.
      return { jobId: job.jobId, ended: program.ended };
    };

    for (const mode of ["reports", "is silent"])
      it(`ends a worker that ${mode}, which fails its step and its job`, async () => {
        const { jobId, ended } = await startWorker(mode);

        await client.jobs.cancel(jobId, { reason: "Not needed" });
        const { code, stdout, stderr } = await ended;

        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
        expect(stdout.trim().split("\n")).to.deep.equal(["working", "stopped: Cancelled: Not needed"]);
        const { step, ...job } = await client.jobs.get(jobId, { stepKey: "work" });
        expect(job).to.include({ status: "failed", message: "Cancelled: Not needed" });
        expect(step?.status).to.equal("failed");
        expect((await client.jobs.list({ cancelled: true, jobId })).jobs).to.have.length(1);
      });

    it("leaves the job of a worker that has died running until the cancellation is forced", async () => {
      const { jobId, ended } = await startWorker("reports");
      program?.kill();
      await ended;

      const requested = await client.jobs.cancel(jobId, { reason: "Not needed" });
      const forced = await client.jobs.cancel(jobId, { force: true });

      expect(requested.status).to.equal("running");
      expect(forced).to.include({ status: "failed", message: "Cancelled: Not needed" });
    });
  });
});

/** Checks that no request is sent for ten times the interval of the reads. */
async function expectNoMore(sent: readonly unknown[]): Promise<void> {
  // A read that was in flight may still be recorded.
  let count = -1;
  await eventually(
    () => {
      const isQuiet = count === sent.length;
      count = sent.length;
      return isQuiet;
    },
    "the reads to end",
    60_000,
    50,
  );
}
