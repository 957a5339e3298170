import { expect } from "chai";
import { cleanUpDeletions } from "../../src/models/commands/deleteJobs.ts";
import { reportSteps } from "../../src/models/commands/reportSteps.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { createJob, report, whole } from "../support/factories.ts";

const inAnHour = () => new Date(Date.now() + 3_600_000);

describe("a report in the moment of a deletion", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("never shows up in a new job of the same name, and is taken away", async () => {
    const { jobId, path } = await createJob(app);
    const old = { _id: await app.stores.jobs.findId(jobId), jobId };
    await app.call("DELETE", path);
    await app.call("PUT", path, {});

    const { steps } = app.stores;
    const late = steps.reported(null, old, "late", { stepName: "Late", message: "too late" }, 0);
    await steps.write([{ was: null, is: late }]);

    expect((await app.call("GET", `${path}?include=steps`)).body).to.deep.include({
      message: null,
      currentStep: null,
      steps: [],
    });
    expect(await app.stores.steps.collection.countDocuments({ jobId })).to.equal(1);
    await cleanUpDeletions(app.stores, inAnHour());
    expect(await app.stores.steps.collection.countDocuments({ jobId })).to.equal(0);
    expect((await app.call("GET", path)).status).to.equal(200);
  });

  for (const [title, follow] of [
    ["went", async () => {}],
    ["was made anew", (path: string) => app.call("PUT", path, {})],
  ] as const) {
    it(`is answered 404 when the job ${title} between its two writes, and leaves no step`, async () => {
      const { jobId, path } = await createJob(app);
      const other = await createJob(app);
      const { jobs, steps } = app.stores;
      const between = {
        ...{ findForReports: steps.findForReports.bind(steps), reported: steps.reported.bind(steps) },
        deleteOf: steps.deleteOf.bind(steps),
        async write(...changed: Parameters<typeof steps.write>) {
          const missed = await steps.write(...changed);
          await app.call("DELETE", path);
          await follow(path);
          return missed;
        },
      } as unknown as typeof steps;
      const judged = (id: string) => ({
        ...{ jobId: id, stepKey: "s", change: { stepName: "S", message: "m" }, effect: { progress: 50 } },
      });

      const [refused, taken] = await reportSteps({ jobs, steps: between }, [judged(jobId), judged(other.jobId)]);

      expect(refused).to.have.property("code", "job_not_found");
      expect(taken).to.deep.include({ created: true, ended: null });
      expect((await app.call("GET", other.path)).body).to.include({ progress: 50, message: "m" });
      expect(await steps.collection.countDocuments({ jobId })).to.equal(0);
    });
  }

  it("leaves the steps of a job alone whose deletion never happened", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", whole(10));
    const job = { _id: await app.stores.jobs.findId(jobId), jobId };
    await app.stores.deletions.record([job]);

    await cleanUpDeletions(app.stores, inAnHour());

    expect((await app.call("GET", `${path}/steps`)).body.steps).to.have.length(1);
    expect(await app.stores.deletions.collection.countDocuments({ _id: job._id })).to.equal(0);
  });

  it("finishes the deletion that a killed process began", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", whole(10));
    const job = { _id: await app.stores.jobs.findId(jobId), jobId };
    await app.stores.deletions.record([job]);
    await app.stores.jobs.collection.deleteOne({ _id: job._id });

    await cleanUpDeletions(app.stores, inAnHour());

    expect(await app.stores.steps.collection.countDocuments({ jobId })).to.equal(0);
  });

  it("loses no report of a job that is made while all are deleted", async () => {
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
