import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { waitForAddress } from "../../support/browser.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "deploys" }, action: "job", job: {
      id: "deploy/{{payload.id}}", name: "Deploy {{payload.app}}", message: "{{payload.text}}",
      step: { key: "{{payload.stage}}", from: 0, to: 50 },
      status: { path: "payload.state", running: ["started"], completed: ["done"], failed: ["error"] } } },
] } }`;

describe("dashboard pages of a mapping that reports a job", () => {
  let worker: TestWorker;
  const { app, openLive } = useDashboard({ config: CONFIG });
  beforeEach(async () => {
    worker = await startWorker(app);
  });
  afterEach(() => worker.close());

  const send = (body: object) => app.call("POST", "/hooks/deploys", body, { Authorization: `Bearer ${TOKEN}` });
  const job = `/jobs/${encodeURIComponent("deploys/deploy/7")}`;

  it("show the job in place of a run, in the list, at the request and at the run", async () => {
    await send({ id: 7, app: "shop", stage: "build", state: "started", text: "Building" });
    const page = await openLive("/requests");
    const rows = page.locator(".table-requests .row");
    await rows.getByText("Reported deploys/deploy/7").waitFor();
    await rows.filter({ hasText: "1 job" }).waitFor();
    await rows.getByRole("link", { name: "deploys", exact: true }).click();
    await page.getByRole("link", { name: "deploys/deploy/7" }).click();

    await waitForAddress(page, "pathname", job);
    await page.getByRole("heading", { name: "Deploy shop" }).first().waitFor();
    await page.getByText("0 of 1 step").waitFor();
    const { body } = await app.call("GET", "/api/runs");
    await page.goto(`${app.url}/runs/${body.runs[0].runId}`);
    await page.getByText("report of a job").waitFor();
    await page.getByRole("link", { name: "deploys/deploy/7" }).click();
    await waitForAddress(page, "pathname", job);
  });

  it("show the report in a dry run, and what a request lacks, without a job", async () => {
    const page = await openLive("/requests");
    await page.getByRole("button", { name: "Try a mapping" }).click();
    await page.getByRole("textbox", { name: "Hook" }).fill("deploys");
    const body = page.getByLabel("Body", { exact: true });
    await body.fill('{ "id": 7, "app": "shop", "stage": "build", "state": "done" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("report of a job").waitFor();
    const reports = page.getByRole("region", { name: "Reports 1, content" });
    await reports.getByText('"jobId": "deploys/deploy/7"').waitFor();
    await reports.getByText('"status": "completed"').waitFor();
    await body.fill('{ "state": "done" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("job.id is empty: the request has no value for a part of job.id.").waitFor();
    await body.fill('{ "id": 7, "state": "paused" }');
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByText("job.id is empty").waitFor({ state: "detached" });

    expect((await app.call("GET", "/api/jobs")).body.jobs).to.deep.equal([]);
  });
});
