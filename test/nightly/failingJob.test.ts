import { expect } from "chai";
import { report } from "../support/factories.ts";
import { NotifyFixture, toWebhook } from "../support/notifyFixture.ts";

const FAILURES = 100_000;
/** Events of one record that wait at most. */
const KEPT = 50;
const MESSAGE = "x".repeat(1_000);

describe(`notify: a job that fails ${FAILURES} times while no worker runs`, () => {
  it("keeps 50 events, takes reports, and sends the number of the others", async () => {
    const fixture = await NotifyFixture.start([{ id: "hook", on: ["job.failed"], to: toWebhook() }]);
    await fixture.stopWorker();
    const { jobs } = fixture.app.stores;
    for (let i = 0; i < FAILURES; i++) {
      await jobs.put("flapping", { status: "running" });
      await jobs.put("flapping", { status: "failed", message: `${i} ${MESSAGE}` });
    }
    const job = await jobs.collection.native.findOne({ jobId: "flapping" });
    const { status } = await report(fixture.app, "/api/jobs/flapping", "a", {});

    await fixture.startWorker();
    const sent = await fixture.delivered("hook", KEPT);
    const bodies = await fixture.bodies("hook");
    await fixture.close();

    expect(job?.notes).to.have.length(KEPT);
    expect(status).to.equal(201);
    expect(sent).to.have.length(KEPT);
    expect(new Set(sent.map(({ event }) => event?.id))).to.have.property("size", KEPT);
    expect(bodies.map(({ data }) => data.heldBack ?? 0).filter((held) => held > 0)).to.deep.equal([FAILURES - KEPT]);
    expect(bodies.at(-1).data.job.message).to.match(new RegExp(`^${FAILURES - 1} x`));
  }).timeout(3_600_000);
});
