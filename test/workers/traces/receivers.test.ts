import { expect } from "chai";
import { spanJson } from "../../../src/workers/traces/span.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { NotifyFixture, toWebhook } from "../../support/notifyFixture.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../../support/servers/otlpReceiver.ts";

describe("receivers of traces", () => {
  let receiver: OtlpReceiver;
  let fixture: NotifyFixture;
  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    fixture = await NotifyFixture.start([{ id: "ends", on: ["job.completed"], to: toWebhook() }], {
      otel: { traces: true, endpoint: receiver.url.replace("http://", "http://user:pa%20ss@") },
    });
  });
  afterEach(async () => {
    await fixture.close();
    await receiver.close();
    expect(receiver.faults).to.deep.equal([]);
  });

  const endJob = async () => {
    const { path } = await createJob(fixture.app, { name: "Nightly" });
    await fixture.app.call("PUT", path, { status: "completed" });
  };
  const counted = async () => {
    const { values } = await fixture.worker.metrics.otelSpans.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
  };
  const until = (outcome: string, count: number) =>
    eventually(async () => (await counted())[outcome] === count, `${count} spans with the outcome ${outcome}`);

  for (const status of [429, 502, 503, 504]) {
    it(`get the spans again after an answer of ${status}`, async () => {
      receiver.answers.push({ status }, { status, headers: { "Retry-After": "0" } });
      await endJob();

      await until("sent", 1);

      expect(receiver.requests).to.have.length(3);
      expect(await counted()).to.deep.equal({ sent: 1, failed: 0, dropped: 0 });
      expect(receiver.requests[0]?.headers.authorization).to.equal(`Basic ${btoa("user:pa ss")}`);
    });
  }

  it("rest for the time that they ask for, while notifications go on", async () => {
    receiver.answers.push({ status: 503, headers: { "Retry-After": "3600" } });
    await endJob();
    await eventually(() => receiver.requests.length === 1, "the first request");
    await endJob();

    await fixture.delivered("ends", 2);
    await fixture.scanned();

    expect(receiver.requests).to.have.length(1);
    const line = () => fixture.worker.log.find(({ msg }) => String(msg).includes("tried again"));
    expect(await eventually(line, "the line of the log")).to.include({
      reason: "The receiver answered 503.",
      pauseMs: 60_000, // the time after which spans are given up in tests
    });
  });

  for (const status of [400, 401, 404, 413, 500, 307]) {
    it(`get no spans again after an answer of ${status}`, async () => {
      receiver.answers.push({ status, headers: { Location: "/elsewhere" } });
      await endJob();

      await until("failed", 1);

      await endJob();
      await until("sent", 1);
      expect(receiver.requests).to.have.length(2);
    });
  }

  it("may refuse a part of the spans, and only warn", async () => {
    const partial = (partialSuccess: object) => ({ body: JSON.stringify({ partialSuccess }) });
    await fixture.stopWorker();
    receiver.answers.push(partial({ rejectedSpans: "2", errorMessage: "too\nold" }), partial({ errorMessage: "soon" }));
    await Promise.all([endJob(), endJob(), endJob()]);
    await fixture.startWorker();

    await until("failed", 2);
    await until("sent", 1);
    await endJob();
    await until("sent", 2);

    const reasons = fixture.worker.log.flatMap(({ reason, failed }) =>
      reason === undefined ? [] : [[reason, failed]],
    );
    expect(reasons).to.deep.equal([
      ["too\nold", 2],
      ["soon", 0],
    ]);
  });

  it("may answer with anything", async () => {
    const bodies = [
      "",
      "null",
      "[]",
      '{"partialSuccess":null}',
      '{"partialSuccess":{"rejectedSpans":"-1"}}',
      "x".repeat(200_000),
    ];
    receiver.answers.push(...bodies.map((body) => ({ body })));
    for (const [i] of bodies.entries()) {
      await endJob();
      await until("sent", i + 1);
    }
    expect((await counted()).failed).to.equal(0);
  });

  it("that hang delay no notification, and a worker that stops does not wait for them", async () => {
    receiver.answers.push(null);
    await endJob();
    await eventually(() => receiver.requests.length === 1, "the first request");
    await endJob();
    await fixture.delivered("ends", 2);

    await fixture.stopWorker();
    await fixture.startWorker();

    await until("sent", 2);
  });

  it("that are away for 15 minutes lose the spans of that time, and no later ones", async () => {
    receiver.answers.push({ status: 503 });
    await endJob();
    await eventually(() => receiver.requests.length === 1, "the first request");
    receiver.answers.push({ status: 503 });
    fixture.app.clock.advance(61_000);
    await until("dropped", 1);

    await endJob();

    await until("sent", 1);
    expect(await counted()).to.deep.equal({ sent: 1, failed: 0, dropped: 1 });
  });

  it("find no more spans waiting than there is room for", async () => {
    receiver.answers.push(...Array.from({ length: 1_000 }, () => ({ status: 503 })));
    const { app } = fixture;
    const at = app.clock.now();
    const ids = { traceId: "1".repeat(32), spanId: "2".repeat(16) };
    const json = spanJson({ ...ids, name: "old", kind: 1, start: at, end: at, attributes: { n: 1 }, isFailed: false });
    const waiting = Array.from({ length: 19_999 }, (_, i) => ({ _id: `old-${i}`, at, count: 1, json }));
    await fixture.stopWorker();
    await app.database.collections.spans.insertMany(waiting);
    await Promise.all([endJob(), endJob(), endJob()]);
    await fixture.startWorker();

    await until("dropped", 2);

    await fixture.delivered("ends", 3);
    expect(await app.database.collections.spans.countDocuments()).to.equal(20_000);
  });
});
