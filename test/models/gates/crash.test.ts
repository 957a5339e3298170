import { expect } from "chai";
import { repairGates } from "../../../src/models/gates/repairGates.ts";
import { createJob } from "../../support/factories.ts";
import { clearFailPoint, failWrites } from "../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("gates while MongoDB refuses writes", () => {
  const app = useOwnMongod(() => useSharedApp());
  afterEach(() => clearFailPoint());

  it("records an answer although the job cannot be updated, and the repair updates it", async () => {
    const { path } = await createJob(app);
    await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
    await failWrites(100, undefined, ["update"]);
    const { status, body } = await app.call("POST", `${path}/gates/publish/answer`, { action: "accept" });
    expect([status, body.status]).to.deep.equal([200, "answered"]);
    await clearFailPoint();
    expect((await app.call("GET", path)).body.waitingFor).to.deep.equal(["publish"]);
    expect(await repairGates(app.stores)).to.equal(1);
    expect((await app.call("GET", path)).body.waitingFor).to.deep.equal([]);
  });
});
