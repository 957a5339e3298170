import { expect } from "chai";
import { reportStep } from "../../../../src/models/jobs/reports/reportStep.ts";
import { createJob, report } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };

describe("pages of large records", () => {
  const app = useSharedApp({ config: `{ hooks: { enabled: true, token: "${TOKEN}" } }` });

  it("of runs end early when their replies exceed the size of one response", async () => {
    for (let i = 0; i < 4; i++) await app.call("POST", "/hooks/agent", { message: "x" }, bearer);
    await app.stores.runs.collection.native.updateMany({}, { $set: { reply: "x".repeat(4 * 1024 * 1024) } });

    const first = await app.call("GET", "/api/runs");
    const second = await app.call("GET", `/api/runs?cursor=${first.body.nextCursor}`);

    expect([first.body.runs.length, second.body.runs.length, second.body.nextCursor]).to.deep.equal([3, 1, null]);
  });

  it("of steps end early when their outputs are large", async () => {
    const large = await createJob(app);
    for (const key of ["a", "b", "c", "d"])
      await report(app, large.path, key, { output: { text: "x".repeat(3_900_000) } });

    const { body } = await app.call("GET", `${large.path}/steps`);
    const rest = await app.call("GET", `${large.path}/steps?cursor=${body.nextCursor}`);

    expect(body.steps).to.have.length(3);
    expect(rest.body.steps.map((step: { stepKey: string }) => step.stepKey)).to.deep.equal(["d"]);
    expect(rest.body.nextCursor).to.equal(null);
  });

  it("are what steps are listed in that ?include=steps refuses as too large for one response", async () => {
    const large = await createJob(app);
    const output = { text: "x".repeat(4_900_000) };
    for (let i = 0; i < 15; i++) await reportStep(app.stores, large.jobId, `s${i}`, { stepName: "S", output });

    const included = await app.call("GET", `${large.path}?include=steps`);
    const listed = await app.call("GET", `${large.path}/steps`);

    expect([included.status, included.body.code]).to.deep.equal([400, "invalid_query"]);
    expect(included.body.detail).to.include("in pages");
    expect(listed.body.steps).to.have.length(2);
  });
});
