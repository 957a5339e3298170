import { expect } from "chai";
import { repairGates } from "../../../src/models/gates/repairGates.ts";
import { createJob } from "../../support/factories.ts";
import { useApp } from "../../support/useApp.ts";

describe("repairGates", () => {
  const app = useApp();

  it("leaves a gate alone that was opened just now, because its process may be between its two writes", async () => {
    const { jobId, path } = await createJob(app);
    await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
    await app.stores.jobs.collection.native.updateOne({ jobId }, { $set: { openGates: [] } });
    const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);

    const young = await repairGates(app.stores, ago(5_000));
    app.clock.advance(6_000);
    const old = await repairGates(app.stores, ago(5_000));

    expect({ young, old }).to.deep.equal({ young: 0, old: 1 });
    expect((await app.call("GET", path)).body.waitingFor).to.deep.equal(["publish"]);
  });
});
