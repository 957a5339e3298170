import { expect } from "chai";
import { answerUrl } from "../../../src/models/gates/answerLinks.ts";
import { repairGates } from "../../../src/models/gates/repairGates.ts";
import type { TestApp } from "../../support/app.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const DAY_MS = 86_400_000;

const ENDS: Record<string, (app: TestApp, path: string) => Promise<unknown>> = {
  "failed by a report": (app, path) => report(app, path, "a", { status: "failed", failJob: true }),
  "completed by a report": (app, path) => report(app, path, "a", { status: "completed", output: {}, ...whole(100) }),
  "failed by PUT": (app, path) => app.call("PUT", path, { status: "failed" }),
  "cancelled by force": (app, path) => app.call("POST", `${path}/cancel`, { force: true }),
};

describe("gates of jobs that have ended", () => {
  const app = useSharedApp();
  let path: string;
  let jobId: string;
  beforeEach(async () => {
    ({ jobId, path } = await createJob(app));
    await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
  });

  const gate = async () => (await app.call("GET", `${path}/gates/publish`)).body;
  const answer = () => app.call("POST", `${path}/gates/publish/answer`, { action: "accept" });
  const stored = () => app.stores.gates.collection.native.findOne({ jobId });
  const listed = async (status: string) => {
    const { body } = await app.call("GET", `/api/gates?status=${status}&limit=1000`);
    return body.gates.filter((one: { jobId: string }) => one.jobId === jobId).length;
  };

  for (const [how, end] of Object.entries(ENDS))
    it(`read as withdrawn and take no answer: ${how}`, async () => {
      expect(await listed("open")).to.equal(1);
      await end(app, path);

      expect(await gate()).to.include({ status: "withdrawn", action: null, answeredBy: null });
      const refused = await answer();
      expect([refused.status, refused.body.code, refused.body.gate.status]).to.deep.equal([
        ...[409, "gate_closed", "withdrawn"],
      ]);
      expect(await listed("open")).to.equal(0);
      expect((await app.call("GET", path)).body.waitingFor).to.deep.equal([]);
      const another = await app.call("PUT", `${path}/gates/another`, { title: "Publish?" });
      expect([another.status, another.body.code]).to.deep.equal([409, "job_ended"]);
    });

  it("are not answered by the link of a message", async () => {
    const found = await stored();
    if (!found) throw new Error("there is no gate");
    const link = await answerUrl(app.stores.answerLinks, app.url, found);
    await app.call("PUT", path, { status: "failed" });
    const page = await fetch(link);
    const posted = await fetch(link, { method: "POST", body: new URLSearchParams({ action: "accept" }) });
    expect([page.status, posted.status]).to.deep.equal([410, 410]);
    expect(await page.text()).to.include("This question was withdrawn");
    expect((await stored())?.answeredBy).to.equal(null);
  });

  it("are open again when the job is started again", async () => {
    const { gateId } = await gate();
    await app.call("PUT", path, { status: "failed" });
    await app.call("PUT", path, { status: "running" });
    expect(await gate()).to.include({ gateId, status: "open" });
    expect((await app.call("GET", path)).body).to.deep.include({ waitingFor: ["publish"], staleAt: null });
    expect((await answer()).status).to.equal(200);
  });

  it("stay withdrawn when the code that asked withdrew them after the end", async () => {
    await app.call("PUT", path, { status: "failed" });
    expect((await app.call("DELETE", `${path}/gates/publish`)).body.status).to.equal("withdrawn");
    await app.call("PUT", path, { status: "running" });
    expect((await gate()).status).to.equal("withdrawn");
  });

  it("are withdrawn for good a day later", async () => {
    await app.call("PUT", path, { status: "completed" });
    await repairGates(app.stores);
    expect((await stored())?.status).to.equal("open");
    app.clock.advance(DAY_MS + 1_000);
    await repairGates(app.stores);
    expect((await stored())?.status).to.equal("withdrawn");
    expect(await repairGates(app.stores)).to.equal(0);
    await app.call("PUT", path, { status: "running" });
    expect((await gate()).status).to.equal("withdrawn");
  });

  it("read as answered if they were answered before the end", async () => {
    await answer();
    await app.call("PUT", path, { status: "completed" });
    expect(await gate()).to.include({ status: "answered", action: "accept" });
    const again = await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
    expect(again.body.code).to.equal("gate_answered");
  });
});
