import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { createJob } from "../../support/factories.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";

const WORKERS = 100;
const REPORTS = 20;

describe("a hundred workers that report on one step", () => {
  useOwnMongod();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("all succeed, with far fewer commands to MongoDB than reports", async () => {
    const { path } = await createJob(app);
    const { db } = app.database.collections.jobs;
    const countUpdates = async () => Number((await db.command({ serverStatus: 1 })).metrics.commands.update.total);
    const before = await countUpdates();
    const statuses = new Set<number>();

    const work = async (worker: number) => {
      for (let report = 1; report <= REPORTS; report++) {
        const body = { stepName: "Import", progress: report, message: `worker ${worker}, row ${report}` };
        statuses.add((await app.call("PUT", `${path}/steps/import`, body)).status);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));

    expect([...statuses].sort()).to.deep.equal([200, 201]);
    const { body: step } = await app.call("GET", `${path}/steps/import`);
    expect(step).to.include({ stepName: "Import", status: "running" });
    const [stored] = await app.stores.jobs.collection.find({});
    expect(stored?.seq).to.equal(WORKERS * REPORTS);
    expect(await countUpdates()).to.be.below(before + (WORKERS * REPORTS) / 5);
  });
});
