import { expect } from "chai";
import { deleteUnusedGates, expireGates, repairGates } from "../../../src/models/gates/repairGates.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { createJob } from "../../support/factories.ts";

describe("queries of gates", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(async () => {
    const { db } = app.stores.gates.collection.native;
    await db.command({ profile: 0 });
    await db.dropCollection("system.profile");
    await app.close();
  });

  it("use an index, and sort nothing in memory, whatever is called", async () => {
    const { db } = app.stores.gates.collection.native;
    for (let i = 0; i < 20; i++) {
      const { path } = await createJob(app);
      await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
      if (i % 2) await app.call("POST", `${path}/gates/publish/answer`, { action: "accept" });
    }
    await db.command({ profile: 2 });

    const { path, jobId } = await createJob(app);
    const expiresAt = new Date(app.clock.now().getTime() + 60_000).toISOString();
    await app.call("PUT", `${path}/gates/publish`, { title: "Publish?", expiresAt });
    await app.call("PUT", `${path}/gates/other`, { title: "Other?" });
    await app.call("POST", `${path}/gates/other/answer`, { action: "accept" });
    const page = await app.call("GET", "/api/gates?status=open&limit=5");
    await app.call("GET", `/api/gates?status=open&limit=5&cursor=${page.body.nextCursor}`);
    await app.call("GET", "/api/gates?limit=5");
    await app.call("GET", "/api/gates?status=answered&status=expired&limit=5");
    await app.call("GET", `/api/gates?jobId=${jobId}&limit=5`);
    app.clock.advance(60_000);
    await expireGates(app.stores);
    await repairGates(app.stores);
    for await (const _ of deleteUnusedGates(app.stores));
    await app.call("DELETE", path);

    expect(await app.stores.gates.collection.native.countDocuments({ jobId })).to.equal(0);
    const queries = await db
      .collection("system.profile")
      .find({ ns: /\.(gates|jobs)$/ })
      .toArray();
    expect(queries.length).to.be.above(20);
    const slow = queries.filter(
      ({ planSummary = "", hasSortStage }) => hasSortStage || /COLLSCAN/.test(String(planSummary)),
    );
    expect(slow.map(({ ns, planSummary, command }) => [ns, planSummary, command])).to.deep.equal([]);
  });
});
