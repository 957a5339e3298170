import { expect } from "chai";
import sinon from "sinon";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { NotifyFixture } from "../../support/notifyFixture.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../../support/servers/otlpReceiver.ts";
import { startWorker } from "../../support/worker.ts";

const PUBLIC_URL = "https://signalbox.example.com";
const INTERNAL = 1;
const SERVER = 2;
const CALLER = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const PING = "0193d0a8-7d2e-4000-8000-0000000000aa";
const header = (flags: string, version = "00") => `${version}-${CALLER.trace}-${CALLER.span}-${flags}`;

describe("traces of jobs", () => {
  let receiver: OtlpReceiver;
  let fixture: NotifyFixture;
  before(async () => {
    receiver = await startOtlpReceiver();
    fixture = await NotifyFixture.start([], {
      server: { publicUrl: PUBLIC_URL },
      expect: [{ id: "pinged", name: "Pinged", every: "1d", ping: PING }],
      otel: { traces: true, endpoint: `${receiver.url}/`, headers: { "X-Key": "secret" } },
    });
  });
  afterEach(() => {
    sinon.restore();
    expect(receiver.faults).to.deep.equal([]);
  });
  after(async () => {
    await fixture.close();
    await receiver.close();
  });

  const spansOf = (traceparent: string) => receiver.spans.filter(({ traceId }) => traceparent.includes(traceId));
  /** Waits for a number of spans of a trace. */
  const received = async (traceparent: string, count: number): Promise<ReceivedSpan[]> => {
    await eventually(() => spansOf(traceparent).length >= count, `${count} spans of ${traceparent}`);
    return spansOf(traceparent);
  };
  const readJob = async (path: string) => (await fixture.app.call("GET", path)).body;
  const end = async (path: string, status = "completed") => fixture.app.call("PUT", path, { status });
  const millis = (nanos: string) => Number(BigInt(nanos) / 1_000_000n);

  it("are one trace for each job: the job, and each attempt of its steps", async () => {
    const { app } = fixture;
    const { jobId, path } = await createJob(app, { name: "Nightly", input: { secret: "hunter2" } });
    await report(app, path, "fetch", { stepName: "Fetch", status: "failed", message: "refused" });
    await report(app, path, "fetch", { stepName: "Fetch", status: "running" });
    await report(app, path, "fetch", { stepName: "Fetch", status: "completed", output: { rows: 1 } });
    await report(app, path, "load%2Fall", { stepName: "Load", progress: 10 });
    const { body: job } = await end(path);

    const spans = await received(job.traceparent, 4);

    const [root] = spans.filter(({ parentSpanId }) => parentSpanId === undefined) as [ReceivedSpan];
    const url = `${PUBLIC_URL}/jobs/${jobId}`;
    expect(job.traceparent).to.equal(`00-${root.traceId}-${root.spanId}-01`);
    expect(root).to.deep.include({ name: "RUN Nightly", kind: SERVER, status: {}, links: [], flags: 0x101 });
    expect(root.attributes).to.deep.equal({
      "cicd.pipeline.name": "Nightly",
      "cicd.pipeline.run.id": jobId,
      "cicd.pipeline.run.url.full": url,
      "cicd.pipeline.result": "success",
    });
    expect(millis(root.startTimeUnixNano)).to.equal(Date.parse(job.createdAt));
    expect(millis(root.endTimeUnixNano)).to.equal(Date.parse(job.updatedAt));
    const steps = spans.filter((span) => span !== root);
    for (const step of steps) expect(step).to.deep.include({ kind: INTERNAL, parentSpanId: root.spanId });
    const rows = steps.map(({ name, status, attributes }) => ({
      name,
      status,
      result: attributes["cicd.pipeline.task.run.result"],
      error: attributes["error.type"],
      url: attributes["cicd.pipeline.task.run.url.full"],
    }));
    expect(rows).to.deep.equal([
      { name: "Fetch", status: { code: 2 }, result: "failure", error: "_OTHER", url: `${url}?step=fetch` },
      { name: "Fetch", status: {}, result: "success", error: undefined, url: `${url}?step=fetch` },
      { name: "Load", status: {}, result: "success", error: undefined, url: `${url}?step=load%2Fall` },
    ]);
    // The open attempt ends with the job.
    expect(steps[2]?.endTimeUnixNano).to.equal(root.endTimeUnixNano);
    const ids = steps.map(({ attributes }) => attributes["cicd.pipeline.task.run.id"]);
    expect(new Set(ids).size).to.equal(3);
    expect(JSON.stringify(spans)).to.not.match(/hunter2|refused|rows/);
    expect(receiver.requests.at(-1)?.headers).to.include({ "x-key": "secret" });
  });

  it("name the result of a failed and of a cancelled job, and what is still open ends likewise", async () => {
    const { app } = fixture;
    const failing = await createJob(app);
    await report(app, failing.path, "a", { status: "running" });
    await report(app, failing.path, "b", { status: "failed", failJob: true });
    const cancelled = await createJob(app);
    await app.call("POST", `${cancelled.path}/cancel`, { force: true });

    const failure = await received((await readJob(failing.path)).traceparent, 3);
    const [cancellation] = await received((await readJob(cancelled.path)).traceparent, 1);

    expect(failure.map(({ name, status }) => [name, status.code])).to.have.deep.members([
      ["RUN", 2],
      ["a", 2],
      ["b", 2],
    ]);
    expect(failure[0]?.attributes).to.include({ "cicd.pipeline.result": "failure", "error.type": "_OTHER" });
    expect(cancellation?.attributes).to.include({ "cicd.pipeline.result": "cancellation" });
    expect(cancellation?.status).to.deep.equal({});
  });

  it("begin anew when a job is started again, without the steps of the run before", async () => {
    const { app } = fixture;
    const { path } = await createJob(app);
    await report(app, path, "a", { status: "completed" });
    const { body: first } = await end(path);
    await received(first.traceparent, 2);
    await app.call("PUT", path, { status: "running" });
    await report(app, path, "b", { status: "completed" });
    const { body: second } = await end(path);

    const spans = await received(second.traceparent, 2);

    expect(second.traceparent).to.not.equal(first.traceparent);
    expect(spans.map(({ name }) => name)).to.have.members(["RUN", "b"]);
    expect(spansOf(first.traceparent).map(({ name }) => name)).to.have.members(["RUN", "a"]);
  });

  it("link to the trace of the request that created the job, whatever later requests state", async () => {
    const { app } = fixture;
    const { path } = await createJob(app);
    for (const [id, traceparent] of [
      ["v0", header("01")],
      ["v1", `${header("01", "01")}-more`],
    ] as const) {
      await app.call("PUT", `${path}-${id}`, {}, { traceparent });
      await app.call("PUT", `${path}-${id}`, { status: "completed" }, { traceparent: header("00") });

      const [root] = await received((await readJob(`${path}-${id}`)).traceparent, 1);

      expect(root?.links).to.deep.equal([{ traceId: CALLER.trace, spanId: CALLER.span, flags: 0x301 }]);
      expect(root?.parentSpanId).to.equal(undefined);
      expect(root?.traceId).to.not.equal(CALLER.trace);
    }
  });

  it("link to the trace of a ping or a run event that created the job", async () => {
    const { app } = fixture;
    const traceparent = { traceparent: header("01") };
    const runId = "0193d0a8-7d2e-7000-8000-000000000001";
    const job = { namespace: "n", name: "load" };
    const event = { eventType: "COMPLETE", eventTime: "2026-01-01T00:00:00Z", run: { runId }, job, producer: "x" };
    await app.call("POST", "/api/ping/traced/done", undefined, traceparent);
    await app.call("POST", `/ping/${PING}/start`, undefined, traceparent);
    await app.call("POST", `/ping/${PING}`, undefined, { traceparent: header("00") });
    expect((await app.call("POST", "/api/v1/lineage", event, traceparent)).status).to.equal(201);
    const { jobs } = (await app.call("GET", "/api/jobs?name=Pinged")).body;

    for (const id of ["traced", jobs[0].jobId, runId]) {
      const [root] = await received((await readJob(`/api/jobs/${encodeURIComponent(id)}`)).traceparent, 1);
      expect(root?.links, id).to.deep.equal([{ traceId: CALLER.trace, spanId: CALLER.span, flags: 0x301 }]);
    }
  });

  it("ignore an invalid traceparent", async () => {
    const { app } = fixture;
    const { path } = await createJob(app);
    const invalid = [
      header("01", "ff"),
      header("01").toUpperCase(),
      `${header("01")}-more`,
      header("1"),
      header("01").replace(CALLER.trace, "0".repeat(32)),
      header("01").replace(CALLER.span, "0".repeat(16)),
      `${header("00")}, ${header("00")}`,
      "x".repeat(8_000),
    ];
    for (const [i, traceparent] of invalid.entries()) {
      const { body: job } = await app.call("PUT", `${path}-${i}`, { status: "completed" }, { traceparent });
      const [root] = await received(job.traceparent, 1);
      expect(root?.links, traceparent).to.deep.equal([]);
    }
  });

  it("are left out if the caller's trace is not sampled, and the job passes that on", async () => {
    const { app } = fixture;
    const { path } = await createJob(app);
    const { body: unsampled } = await app.call(
      "PUT",
      `${path}-0`,
      { status: "completed" },
      { traceparent: header("00") },
    );
    const { body: sampled } = await end(path);

    await received(sampled.traceparent, 1);

    expect(unsampled.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(spansOf(unsampled.traceparent)).to.deep.equal([]);
  });

  it("have the same ids when a crash repeats them", async () => {
    const { app } = fixture;
    const { outbox } = app.stores;
    const { path } = await createJob(app);
    await report(app, path, "a", { status: "failed" });
    await report(app, path, "a", { status: "running" });
    // The spans are sent before the notification is dispatched again.
    const { traceparent } = await readJob(path);
    let crashes = 0;
    const remove = outbox.remove.bind(outbox);
    sinon.replace(outbox, "remove", async (notes) => {
      if (notes.length === 0 || ++crashes > 2) return remove(notes);
      if (crashes === 2) await received(traceparent, 3);
      throw new AppError("unavailable", { detail: "crash" });
    });
    await end(path);

    const spans = await received(traceparent, 6);

    const ids = spans.map(({ spanId }) => spanId);
    expect(new Set(ids).size).to.equal(3);
    expect(new Set(spans.map((span) => JSON.stringify(span))).size).to.equal(3);
  });

  it("are sent once by two workers", async () => {
    const { app } = fixture;
    const second = await startWorker(app);
    const jobs = await Promise.all(Array.from({ length: 30 }, () => createJob(app)));
    const ended = await Promise.all(jobs.map(({ path }) => end(path)));

    const counts = await Promise.all(ended.map(async ({ body }) => (await received(body.traceparent, 1)).length));
    await fixture.dispatched();
    await second.close();

    expect(new Set(counts)).to.deep.equal(new Set([1]));
  });

  it("of a job that is deleted before its end is dispatched have no steps", async () => {
    const { app } = fixture;
    await fixture.stopWorker();
    const { path } = await createJob(app, { name: "Gone" });
    await report(app, path, "a", { ...whole(100), status: "completed", output: {} });
    const { traceparent } = await readJob(path);
    await app.call("DELETE", path);
    await fixture.startWorker();

    const spans = await received(traceparent, 1);

    expect(spans.map(({ name }) => name)).to.deep.equal(["RUN Gone"]);
  });

  it("of a job with 10,000 steps are sent in several requests", async () => {
    const { app } = fixture;
    const { jobId, path } = await createJob(app);
    await report(app, path, "s", { status: "completed" });
    const { jobs } = app.database.collections;
    const [step] = Object.values((await jobs.findOne({ jobId }))?.steps ?? {});
    const steps = Array.from({ length: 10_000 }, (_, i) => [
      `s${i}`,
      { ...step, stepId: `id-${i}`, stepKey: `s${i}`, stepName: `Step ${i}` },
    ]);
    await jobs.updateOne({ jobId }, { $set: { steps: Object.fromEntries(steps) } });
    const before = receiver.requests.length;
    await end(path);

    const spans = await received((await readJob(path)).traceparent, 10_001);

    expect(new Set(spans.map(({ spanId }) => spanId)).size).to.equal(10_001);
    const sizes = receiver.requests.slice(before).map(({ bytes }) => bytes);
    expect(sizes.length).to.be.above(1);
    expect(Math.max(...sizes)).to.be.below(4 * 1024 * 1024);
  });
});
