import { expect } from "chai";
import { NotifyFixture, toWebhook } from "../../support/notifyFixture.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const mapping = (path: string) => ({
  id: path,
  match: { path },
  messageTemplate: "{{n}}",
  trackAsJob: true,
  deliver: false,
});

describe("notify: jobs that show a run", () => {
  let fixture: NotifyFixture;
  before(async () => {
    const on = ["job.completed"];
    fixture = await NotifyFixture.start(
      [
        { id: "ci", on, where: { mapping: "ci" }, to: toWebhook() },
        { id: "all", on, to: toWebhook() },
      ],
      { hooks: { enabled: true, token: HOOK_TOKEN, mappings: [mapping("ci"), mapping("other")] } },
    );
  });
  after(() => fixture.close());

  it("are matched by the mapping that made the run, and other jobs are not", async () => {
    const { app } = fixture;
    const call = async (path: string) => {
      const { body } = await app.call("POST", `/hooks/${path}`, { n: 1 }, { Authorization: `Bearer ${HOOK_TOKEN}` });
      return body.runId;
    };
    const runId = await call("ci");
    await call("other");
    await app.call("PUT", "/api/jobs/plain", { status: "completed", metadata: { runId: "plain" } });

    await fixture.delivered("all", 3);

    const bodies = await fixture.bodies("ci");
    expect(bodies.map(({ data }) => data.job.jobId)).to.deep.equal([runId]);
  });
});
