import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { listJobs } from "../../../../src/models/jobs/read/readJobs.ts";
import { openEvents } from "../../../support/eventSource.ts";
import { createJob, report, whole } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

describe("POST /api/jobs/:jobId/cancel", () => {
  const app = useSharedApp();

  const cancel = (path: string, body?: object) => app.call("POST", `${path}/cancel`, body);
  const read = async (path: string) => (await app.call("GET", path)).body;

  it("answers 202 with the job, which goes on running with the request and its reason", async () => {
    const { path } = await createJob(app, { name: "Import" });
    await report(app, path, "load", { progress: 40 });
    const before = await read(path);
    app.clock.advance(1_000);

    const { status, body } = await cancel(path, { reason: "No longer needed" });

    expect(status).to.equal(202);
    expect(body.cancel.reason).to.equal("No longer needed");
    expect(body.cancel.requestedAt).to.equal(body.updatedAt);
    expect(body.updatedAt > before.updatedAt).to.equal(true);
    const { cancelRequested, ...job } = body;
    expect(cancelRequested).to.equal(true);
    const { cancel: _, updatedAt: __, ...rest } = job;
    const { cancel: wasNull, updatedAt: ___, ...unchanged } = before;
    expect(wasNull).to.equal(null);
    expect(rest).to.deep.equal(unchanged);
    expect(await read(path)).to.deep.equal(job);
  });

  it("needs neither a reason nor a body", async () => {
    const { path } = await createJob(app);

    const { status, body } = await cancel(path);

    expect([status, body.cancel.reason]).to.deep.equal([202, null]);
  });

  it("needs no Content-Length without a body, as `curl -X POST` sends it", async () => {
    const { path } = await createJob(app);
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");

    socket.write(`POST ${path}/cancel HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const answer = await text(socket);

    expect(answer.split("\r\n")[0]).to.equal("HTTP/1.1 202 Accepted");
  });

  it("changes nothing when it is repeated", async () => {
    const { path } = await createJob(app);
    const first = await cancel(path, { reason: "First" });
    app.clock.advance(1_000);

    const second = await cancel(path, { reason: "Second" });

    expect([second.status, second.body]).to.deep.equal([202, first.body]);
  });

  it("changes nothing when a hundred requests arrive at once, except for one of them", async () => {
    const { path } = await createJob(app);

    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => cancel(path, { reason: `Reason ${i}` })));

    const { cancel: stored } = await read(path);
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([202]));
    for (const { body } of answers) expect(body.cancel).to.deep.equal(stored);
  });

  it("answers 404 for a job that does not exist", async () => {
    const { status, body } = await cancel(`/api/jobs/${randomUUID()}`);

    expect([status, body.code]).to.deep.equal([404, "job_not_found"]);
  });

  for (const status of ["completed", "failed"])
    for (const force of [false, true])
      it(`answers 409 for a job that has ${status}${force ? ", also when forced" : ""}`, async () => {
        const { path } = await createJob(app, { status });

        const answer = await cancel(path, { force });

        expect([answer.status, answer.body.code]).to.deep.equal([409, "job_ended"]);
        expect(answer.body.detail).to.match(new RegExp(`has already ${status}\\.$`));
        expect(await read(path)).to.include({ status, cancel: null });
      });

  const invalid: [string, object, string][] = [
    ["an empty reason", { reason: "" }, "/reason"],
    ["a reason of more than 512 characters", { reason: "x".repeat(513) }, "/reason"],
    ["a force that is not a boolean", { force: "yes" }, "/force"],
    ["an unknown field", { reasn: "x" }, "/reasn"],
  ];
  for (const [what, body, pointer] of invalid)
    it(`rejects ${what}`, async () => {
      const { path } = await createJob(app);

      const answer = await cancel(path, body);

      expect([answer.status, answer.body.errors[0].pointer]).to.deep.equal([400, pointer]);
      expect((await read(path)).cancel).to.equal(null);
    });

  it("stores a reason that looks like an expression of the database unchanged", async () => {
    const { path } = await createJob(app);

    await cancel(path, { reason: "$message", force: true });

    expect(await read(path)).to.deep.include({ message: "Cancelled: $message" });
  });

  describe("with force", () => {
    it("fails a running job at once, with the reason in its message", async () => {
      const { path } = await createJob(app, { staleAfterSeconds: 60 });
      await report(app, path, "load", { progress: 40 });
      const { lastReportAt } = await read(path);
      app.clock.advance(1_000);

      const { status, body } = await cancel(path, { reason: "The worker is gone", force: true });

      expect(status).to.equal(202);
      expect(body).to.include({ status: "failed", message: "Cancelled: The worker is gone", staleAt: null });
      expect(body.cancel.reason).to.equal("The worker is gone");
      expect(body.lastReportAt).to.equal(lastReportAt);
      const { endedAt } = await app.stores.jobs.find(body.jobId);
      expect(endedAt?.toISOString()).to.equal(body.updatedAt);
    });

    it("fails a job whose cancellation was requested before, and keeps the first request", async () => {
      const { path } = await createJob(app);
      const first = await cancel(path, { reason: "First" });
      app.clock.advance(60_000);

      const { body } = await cancel(path, { reason: "Second", force: true });

      expect(body).to.deep.include({ status: "failed", message: "Cancelled: First", cancel: first.body.cancel });
      expect((await cancel(path, { force: true })).status).to.equal(409);
    });

    it("has the message `Cancelled` without a reason, and that of the forced request if only it has one", async () => {
      const [one, other] = [await createJob(app), await createJob(app)];
      await cancel(other.path);

      await cancel(one.path, { force: true });
      await cancel(other.path, { reason: "Second", force: true });

      expect((await read(one.path)).message).to.equal("Cancelled");
      expect((await read(other.path)).message).to.equal("Cancelled: Second");
    });

    it("leaves later reports as those on any failed job: a completion still counts", async () => {
      const { path } = await createJob(app);
      await report(app, path, "load", whole(40));
      await cancel(path, { reason: "Gone", force: true });

      const progress = await report(app, path, "load", whole(60));
      const meanwhile = await read(path);
      await report(app, path, "load", { ...whole(100), status: "completed", output: { rows: 7 } });

      expect(progress.body.cancelRequested).to.equal(true);
      expect(meanwhile).to.include({ status: "failed", progress: 60, message: "Cancelled: Gone" });
      expect(await read(path)).to.deep.include({ status: "completed", output: { rows: 7 } });
    });

    it("counts the end of the job once", async () => {
      const { path } = await createJob(app);
      const failed = async () => {
        const { body } = await app.call("GET", "/metrics");
        return Number(/^signalbox_jobs_total\{outcome="failed"\} (\d+)/m.exec(body)?.[1] ?? 0);
      };
      const before = await failed();

      await Promise.all(Array.from({ length: 10 }, () => cancel(path, { force: true })));

      expect(await failed()).to.equal(before + 1);
    });
  });

  describe("shows in later answers", () => {
    it("as cancelRequested in each report and each PUT, which lack the field before", async () => {
      const { path } = await createJob(app);
      const before = [await report(app, path, "load", { progress: 1 }), await app.call("PUT", path, { message: "x" })];
      await cancel(path, { reason: "x" });

      const after = [
        await report(app, path, "load", { progress: 2 }),
        await report(app, path, "new", { progress: 2 }),
        await app.call("PUT", path, { message: "y" }),
        await report(app, path, "load", { status: "failed", failJob: true }),
        await report(app, path, "load", { message: "z" }),
        await app.call("PUT", path, { name: "Renamed" }),
      ];

      for (const { body } of before) expect(body).to.not.have.property("cancelRequested");
      for (const { body } of after) expect(body.cancelRequested).to.equal(true);
      expect(await read(path)).to.not.have.property("cancelRequested");
    });

    it("not in that of a ping, which stays `ok`", async () => {
      const { jobId, path } = await createJob(app);
      await cancel(path);

      const { status, body } = await app.call("POST", `/api/ping/${jobId}`);

      expect([status, body]).to.deep.equal([200, "ok\n"]);
    });

    it("of records that a client sends back as it read them", async () => {
      const { path } = await createJob(app);
      await cancel(path, { reason: "x" });
      const receipt = (await report(app, path, "load", { progress: 2 })).body;
      const job = (await app.call("PUT", path, {})).body;

      const answers = [await app.call("PUT", path, job), await app.call("PUT", `${path}/steps/load`, receipt)];

      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    });
  });

  it("is over when the job is started again after its end, and not by a report of a running job", async () => {
    const { path } = await createJob(app);
    await cancel(path, { reason: "x" });
    const going = await app.call("PUT", path, { status: "running" });
    await app.call("PUT", path, { status: "failed" });

    const restarted = await app.call("PUT", path, { status: "running" });
    const reported = await report(app, path, "load", { progress: 2 });

    expect(going.body).to.deep.include({ status: "running", cancelRequested: true });
    expect(restarted.body).to.include({ status: "running", cancel: null }).and.not.have.property("cancelRequested");
    expect(reported.body).to.not.have.property("cancelRequested");
    expect((await cancel(path, { reason: "again" })).body.cancel.reason).to.equal("again");
  });

  it("is null in jobs that nobody cancelled, which are stored without the field", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "load", { progress: 2 });
    const stored = await app.stores.jobs.collection.native.findOne({ jobId });

    const listed = (await app.call("GET", `/api/jobs?jobId=${jobId}`)).body.jobs[0];
    const { status, body } = await cancel(path, { reason: "x" });

    expect(stored).to.not.have.property("cancel");
    expect(listed.cancel).to.equal(null);
    expect([status, body.cancel.reason]).to.deep.equal([202, "x"]);
  });

  it("is sent as a live event, and moves the job between filtered lists", async () => {
    const { jobId, path } = await createJob(app);
    const all = await openEvents(`${app.url}/api/events`);
    const cancelled = await openEvents(`${app.url}/api/events?cancelled=true`);
    const others = await openEvents(`${app.url}/api/events?cancelled=false`);

    await cancel(path, { reason: "Enough" });
    const requested = await all.next("job", (job) => job.jobId === jobId);
    await cancel(path, { force: true });
    const forced = await cancelled.next("job");
    const removed = await others.next("job_removed");

    expect(requested).to.deep.include({ status: "running" });
    expect(requested.cancel.reason).to.equal("Enough");
    expect(forced).to.include({ jobId, status: "failed" });
    expect(removed).to.deep.equal({ jobId });
    for (const events of [all, cancelled, others]) events.close();
  });

  it("makes a job that fails match `cancelled=true` in lists and deletions, and every other job `cancelled=false`", async () => {
    const team = randomUUID();
    const create = async (status?: string, isCancelled = false) => {
      const { jobId, path } = await createJob(app, { metadata: { team } });
      if (isCancelled) await cancel(path);
      if (status) await app.call("PUT", path, { status });
      return jobId;
    };
    const wanted = await create("failed", true);
    const others = [await create("failed"), await create("completed", true), await create(undefined, true)];
    const list = async (query: string) => {
      const { body } = await app.call("GET", `/api/jobs?metadata.team=${team}&fields=cancel${query}`);
      return body.jobs.map(({ jobId }: { jobId: string }) => jobId);
    };

    const lists = [await list("&cancelled=true"), await list("&cancelled=false")];
    await app.call("DELETE", `/api/jobs?metadata.team=${team}&cancelled=true`);

    expect(lists[0]).to.deep.equal([wanted]);
    expect(lists[1]).to.have.members(others);
    expect(await list("")).to.have.members(others);
  });

  it("is shown by lists that ask for the field only", async () => {
    const { jobId, path } = await createJob(app);
    await cancel(path, { reason: "x" });

    const { jobs } = await listJobs(app.stores, { filter: { jobId }, limit: 1, fields: ["cancel"] }, app.clock.now());

    expect(jobs[0]).to.have.all.keys("jobId", "cancel");
    expect(jobs[0]?.cancel?.reason).to.equal("x");
  });
});
