import { expect } from "chai";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { addressOf } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { useDashboard } from "./useDashboard.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = JSON.stringify({
  hooks: {
    enabled: true,
    token: TOKEN,
    keepRequests: "7d",
    mappings: [{ match: { path: "ci" }, name: "CI", messageTemplate: "Build {{n}}", deliver: false }],
  },
  channels: { log: {} },
  notify: [{ id: "ops", on: ["job.failed"], to: { channel: "log", to: "night watch" } }],
});

/** How a person operates a control, with the options of the browser context. */
export interface Way {
  readonly options?: BrowserContextOptions;
  readonly operate: (control: Locator) => Promise<void>;
}

/** Defines a test of each flow of the dashboard for each way to operate it. */
export function describeFlows(ways: Readonly<Record<string, Way>>): void {
  describe("dashboard flows", function () {
    this.timeout(180_000);
    let worker: TestWorker;
    const { app, openLive } = useDashboard({ config: CONFIG });
    beforeEach(async () => {
      worker = await startWorker(app);
    });
    afterEach(() => worker.close());

    const send = async (body: object) =>
      (await app.call("POST", "/hooks/ci", body, { Authorization: `Bearer ${TOKEN}` })).body.runId as string;
    const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
    const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

    const FLOWS: Readonly<Record<string, (page: Page, operate: Way["operate"]) => Promise<unknown>>> = {
      "replay a kept request": async (page, operate) => {
        await send({ n: 7 });
        await page.goto(`${app.url}/requests`);
        await operate(page.getByRole("table", { name: "Requests" }).getByRole("link", { name: "ci", exact: true }));
        await page.getByRole("heading", { name: "Matches ci" }).waitFor();
        await operate(button(page, "Replay"));
        await page.getByText("Replayed", { exact: true }).waitFor();
        expect(await app.stores.runs.collection.native.countDocuments({ replayOf: { $exists: true } })).to.equal(1);
      },
      "run a run again": async (page, operate) => {
        const runId = await send({ n: 8 });
        await page.goto(`${app.url}/runs`);
        await operate(page.getByRole("link", { name: "CI", exact: true }).first());
        await operate(button(page, "Run again"));
        await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(runId));
        expect(await app.stores.runs.collection.native.countDocuments({})).to.equal(2);
      },
      "test a notification rule": async (page, operate) => {
        await page.goto(`${app.url}/notify`);
        await operate(button(page, "Test ops"));
        await page.getByText("The test was delivered.").waitFor();
      },
      "cancel a job by force": async (page, operate) => {
        const { jobId, path } = await createJob(app, { name: "Import" });
        await app.call("POST", `${path}/cancel`, {});
        await page.goto(`${app.url}/jobs/${jobId}`);
        await operate(button(page, "Force cancel"));
        await operate(page.getByRole("dialog").getByRole("button", { name: "Force cancel" }));
        await page.getByText("Cancelled", { exact: true }).first().waitFor();
        expect((await app.call("GET", path)).body.status).to.equal("failed");
      },
      "show only failed runs": async (page, operate) => {
        await send({ n: 9 });
        await page.goto(`${app.url}/runs`);
        await link(page, "CI").waitFor();
        await operate(page.getByRole("link", { name: /^Failed/ }));
        await link(page, "CI").waitFor({ state: "detached" });
        await untilPasses(async () => expect(await addressOf(page)).to.match(/status=failed/));
      },
    };
    for (const [what, flow] of Object.entries(FLOWS))
      for (const [how, { options, operate }] of Object.entries(ways))
        it(`${what} ${how}`, async () => {
          const page = await openLive("/", options);
          await flow(page, operate);
        });
  });
}
