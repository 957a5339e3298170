import { expect } from "chai";
import { reportStep } from "../../../../src/models/jobs/reports/reportStep.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { createJob, report } from "../../../support/factories.ts";

const _RECEIPT = [
  "stepId",
  "jobId",
  "stepKey",
  "stepName",
  "status",
  "progress",
  "message",
  "createdAt",
  "updatedAt",
  "startedAt",
];
const _UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("PUT step", () => {
  let app: TestApp;
  let job: { jobId: string; path: string };
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
  beforeEach(async () => {
    job = await createJob(app);
  });
  const _readJob = async () => (await app.call("GET", job.path)).body;
  const _readStep = async (key: string) => (await app.call("GET", `${job.path}/steps/${key}`)).body;

  const _keys = [
    "a.b",
    "$a",
    "%2E",
    "%",
    "$",
    "__proto__",
    "constructor",
    "0",
    "1",
    "steps",
    "ä 漢/👩‍👩‍👧",
    "a".repeat(256),
  ];

  describe("and the job's progress:", () => {
    const _final = { stepName: "Last", status: "completed", output: { url: "x" } };
  });
});

describe("GET steps of a job", () => {
  let app: TestApp;
  let path: string;
  const keys = Array.from({ length: 7 }, (_, i) => `s${i}`);
  before(async () => {
    app = await startApp();
    ({ path } = await createJob(app));
    for (const key of keys) await report(app, path, key, { status: "completed", output: { key } });
  });
  after(() => app.close());

  it("ends a page early when its outputs are large", async () => {
    const large = await createJob(app);
    for (const key of ["a", "b", "c", "d"])
      await report(app, large.path, key, { output: { text: "x".repeat(3_900_000) } });

    const { body } = await app.call("GET", `${large.path}/steps`);
    const rest = await app.call("GET", `${large.path}/steps?cursor=${body.nextCursor}`);

    expect(body.steps).to.have.length(3);
    expect(rest.body.steps.map((step: { stepKey: string }) => step.stepKey)).to.deep.equal(["d"]);
    expect(rest.body.nextCursor).to.equal(null);
  });

  it("rejects ?include=steps of a job whose steps are too large for one response, but lists them", async () => {
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
