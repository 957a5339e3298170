import { expect } from "chai";
import { createJob } from "../../support/factories.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

const WORKERS = 100;
const REPORTS = 20;

describe("a hundred workers that report on one step", () => {
  const app = useOwnMongod(() => useSharedApp());

  it("all succeed, with far fewer commands and updates than reports", async () => {
    const { path } = await createJob(app);
    const { db } = app.database.collections.jobs;
    const countUpdates = async () => Number((await db.command({ serverStatus: 1 })).metrics.commands.update.total);
    const before = await countUpdates();
    const statuses: number[] = [];

    const work = async (worker: number) => {
      for (let report = 1; report <= REPORTS; report++) {
        const body = { stepName: "Import", progress: report, message: `worker ${worker}, row ${report}` };
        statuses.push((await app.call("PUT", `${path}/steps/import`, body)).status);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));

    expect(new Set(statuses)).to.deep.equal(new Set([200, 201]));
    expect(statuses.filter((status) => status === 201)).to.have.length(1);
    const { body: step } = await app.call("GET", `${path}/steps/import`);
    expect(step).to.include({ stepName: "Import", status: "running" });
    const [stored] = await app.stores.jobs.collection.find({});
    expect(stored?.seq).to.be.below((WORKERS * REPORTS) / 5);
    expect(await countUpdates()).to.be.below(before + (WORKERS * REPORTS) / 5);
  });
});
