import { expect } from "chai";
import { deleteUnusedPayloads } from "../../../src/models/jobs/payloads/unusedPayloads.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { useApp, useSharedApp } from "../../support/useApp.ts";

const MINUTE_MS = 60_000;
const LARGE = { text: "x".repeat(40_000) };

describe("stored payloads of a job", () => {
  const app = useApp();

  const stored = () => app.stores.payloads.collection.native.countDocuments();
  const sweep = async (minutes: number) => {
    const now = new Date(app.clock.now().getTime() + minutes * MINUTE_MS);
    let total = 0;
    for await (const { deleted } of deleteUnusedPayloads(app.stores, now)) total += deleted;
    return total;
  };

  it("are deleted with the job, including the outputs of its steps", async () => {
    const { path } = await createJob(app, { input: LARGE, metadata: LARGE });
    const other = await createJob(app, { input: LARGE });
    await report(app, path, "a", { output: { rows: 7 } });
    await report(app, path, "last", { ...whole(100), output: LARGE });
    const before = await stored();

    await app.call("DELETE", path);

    expect(before).to.equal(6);
    expect(await stored()).to.equal(1);
    expect((await app.call("GET", other.path)).body.input).to.deep.equal(LARGE);
  });

  it("are replaced by newer ones without a remainder of the older ones", async () => {
    const { path } = await createJob(app, { input: LARGE });
    await report(app, path, "a", { output: { n: 1 } });

    for (const n of [2, 3]) {
      await app.call("PUT", path, { input: { ...LARGE, n } });
      await report(app, path, "a", { ...whole(100), output: { ...LARGE, n } });
    }

    const { body } = await app.call("GET", `${path}?stepKey=a`);
    expect([body.input.n, body.output.n, body.step.output.n]).to.deep.equal([3, 3, 3]);
    expect(await stored()).to.equal(3);
    await app.call("PUT", path, { input: null, output: { small: true } });
    expect(await stored()).to.equal(1);
    expect((await app.call("GET", path)).body).to.deep.include({ input: null, output: { small: true } });
  });

  it("of a rejected report are deleted", async () => {
    const { path } = await createJob(app);

    const nameless = await app.call("PUT", `${path}/steps/a`, { output: { n: 1 } });
    const jobless = await app.call("PUT", "/api/jobs/nobody/steps/a", { stepName: "A", output: LARGE });

    expect([nameless.status, jobless.status]).to.deep.equal([400, 404]);
    expect(await stored()).to.equal(0);
  });

  it("are kept by the sweep while the job refers to them", async () => {
    const { path } = await createJob(app, { input: LARGE });
    await report(app, path, "a", { output: { n: 1 } });

    const deleted = [await sweep(0), await sweep(20), await sweep(60 * 24)];

    expect(deleted).to.deep.equal([0, 0, 0]);
    expect((await app.call("GET", `${path}?stepKey=a`)).body.step.output).to.deep.equal({ n: 1 });
  });

  it("are deleted by the sweep if a process died before a record referred to them, but not while that may still happen", async () => {
    const { jobId, path } = await createJob(app, { input: LARGE });
    const used = (await app.stores.payloads.collection.native.findOne({ jobId }))!;
    const { _id, ...like } = used;
    await app.stores.payloads.collection.native.insertOne(like as typeof used);

    const deleted = [await sweep(5), await sweep(11), await sweep(11)];

    expect(deleted).to.deep.equal([0, 1, 0]);
    expect((await app.call("GET", path)).body.input).to.deep.equal(LARGE);
  });

  it("are deleted by the sweep if a process died after it had deleted the job", async () => {
    const { jobId } = await createJob(app, { input: LARGE });
    const other = await createJob(app, { input: LARGE });
    await app.stores.jobs.collection.native.deleteOne({ jobId });

    expect(await sweep(60 * 24 * 30)).to.equal(1);
    expect((await app.call("GET", other.path)).body.input).to.deep.equal(LARGE);
  });

  it("are swept in more than one batch", async () => {
    const { jobId, path } = await createJob(app, { input: LARGE });
    const docs = Array.from({ length: 1_200 }, (_, i) => ({ jobId: `gone-${i % 7}`, text: "{}" }));
    await app.stores.payloads.collection.native.insertMany(docs as never);

    expect(await sweep(20)).to.equal(1_200);
    expect(await app.stores.payloads.collection.native.distinct("jobId")).to.deep.equal([jobId]);
    expect((await app.call("GET", path)).body.input).to.deep.equal(LARGE);
  });

  it("are read again when a newer report replaces one during the read", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", { output: { n: 1 } });
    const { payloads } = app.stores;
    const read = payloads.read.bind(payloads);
    let reads = 0;
    payloads.read = async (refs) => {
      if (reads++ === 0) await report(app, path, "a", { output: { n: 2 } });
      return read(refs);
    };

    const single = (await app.call("GET", `${path}/steps/a`)).body;
    reads = 0;
    const listed = (await app.call("GET", `${path}/steps`)).body.steps;

    expect(single.output).to.deep.equal({ n: 2 });
    expect(listed[0].output).to.deep.equal({ n: 2 });
  });

  it("are read again or left out of a list when they are replaced or their job is deleted during the read", async () => {
    const gone = await createJob(app, { input: LARGE });
    const changed = await createJob(app, { input: LARGE });
    const { payloads } = app.stores;
    const read = payloads.read.bind(payloads);
    let reads = 0;
    payloads.read = async (refs) => {
      if (reads++ === 0) {
        await app.call("DELETE", gone.path);
        await app.call("PUT", changed.path, { input: { ...LARGE, n: 2 } });
      }
      return read(refs);
    };

    const { jobs } = (await app.call("GET", "/api/jobs")).body;

    expect(jobs.map(({ jobId, input }: { jobId: string; input: { n: number } }) => [jobId, input.n])).to.deep.equal([
      [changed.jobId, 2],
    ]);
  });
});

describe("report during a deletion", () => {
  const app = useSharedApp();

  it("is answered with 404, and leaves nothing in a new job of the same name", async () => {
    const { path } = await createJob(app);
    const { payloads } = app.stores;
    const write = payloads.write.bind(payloads);
    payloads.write = async (docs) => {
      await write(docs);
      payloads.write = write;
      await app.call("DELETE", path);
    };

    const { status, body } = await app.call("PUT", `${path}/steps/a`, { stepName: "A", output: { n: 1 } });
    await app.call("PUT", path, {});

    expect([status, body.code]).to.deep.equal([404, "job_not_found"]);
    expect((await app.call("GET", `${path}?include=steps`)).body).to.deep.include({ currentStep: null, steps: [] });
    expect(await payloads.collection.native.countDocuments()).to.equal(0);
  });

  it("is not lost when its job is created while all jobs are deleted", async () => {
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 10 }, () => createJob(app)));

      const [, made] = await Promise.all([app.call("DELETE", "/api/jobs"), createJob(app)]);

      const sent = await app.call("PUT", `${made.path}/steps/a`, { stepName: "A", ...whole(30) });
      const { status, body } = await app.call("GET", `${made.path}?include=steps`);
      expect(status).to.equal(sent.status === 404 ? 404 : 200);
      if (status === 200) expect(body.steps).to.have.length(1);
    }
  });
});
