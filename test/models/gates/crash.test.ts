import { expect } from "chai";
import { repairGates } from "../../../src/models/gates/repairGates.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { createJob } from "../../support/factories.ts";
import { clearFailPoint, failWrites } from "../../support/servers/failPoints.ts";
import { useOwnMongod } from "../../support/servers/servers.ts";

describe("gates while MongoDB refuses writes", () => {
  useOwnMongod();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
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
