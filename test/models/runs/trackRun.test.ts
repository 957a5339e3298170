import { expect } from "chai";
import { acceptAgentRun } from "../../../src/models/intake/acceptHook.ts";
import type { RunDoc } from "../../../src/models/runs/run.ts";
import { trackRetried, trackStarted } from "../../../src/models/runs/trackRun.ts";
import { agentRequest } from "../../support/factories.ts";
import { useApp } from "../../support/useApp.ts";

describe("the job that shows a run", () => {
  const app = useApp();

  const accept = async (): Promise<RunDoc> => {
    const request = { ...agentRequest, trackAsJob: true };
    const { runId } = await acceptAgentRun(app.stores, { name: null, sessionKey: undefined, request });
    return app.stores.runs.find(runId);
  };
  const status = async ({ _id }: RunDoc) => (await app.call("GET", `/api/jobs/${_id}`)).status;

  it("is not created again after its deletion, neither with the next attempt nor with a retry by hand", async () => {
    const run = await accept();
    const before = await status(run);
    await app.call("DELETE", `/api/jobs/${run._id}`);

    await trackStarted(app.stores, await app.stores.runs.find(run._id));
    const tried = await status(run);
    await trackRetried(app.stores, await app.stores.runs.find(run._id));

    expect([before, tried, await status(run)]).to.deep.equal([200, 404, 404]);
  });

  it("says after a retry by hand that the run was started again", async () => {
    const run = await accept();

    await trackRetried(app.stores, await app.stores.runs.find(run._id));

    const { body } = await app.call("GET", `/api/jobs/${run._id}`);
    expect(body).to.include({ status: "running", message: "Started again" });
  });

  it("is created with the first attempt if the process that accepted the run died before", async () => {
    const run = await accept();
    await app.stores.jobs.collection.native.deleteOne({ jobId: run._id });
    await app.stores.runs.collection.native.updateOne({ _id: run._id }, { $unset: { tracked: "" } });

    await trackStarted(app.stores, await app.stores.runs.find(run._id));

    expect(await status(run)).to.equal(200);
  });
});
