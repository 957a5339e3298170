import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";
import { createJob, report } from "../support/factories.ts";

describe("the dashboard's look at one step", function () {
  this.timeout(60_000);
  let app: TestApp;
  const readers = new Readers();
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    await readers.leave();
    await app.close();
  });

  const openStep = async (jobId: string, stepKey: string, options = {}) => {
    const page = await readers.openLive(`${app.url}/jobs/${jobId}?step=${stepKey}`, options);
    return { page, panel: page.getByRole("dialog") };
  };

  it("copies an output where the browser gives no clipboard to the page, as over plain http, and says so where it is seen", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { output: { rows: 12 } });
    const { page, panel } = await openStep(jobId, "a", { permissions: ["clipboard-read", "clipboard-write"] });
    await panel.getByText('"rows": 12').waitFor();
    await page.evaluate(`window.clipboard = navigator.clipboard;
      Object.defineProperty(navigator, "clipboard", { value: undefined })`);

    await panel.getByRole("button", { name: "Copy Output" }).click();
    await panel.getByText("Output copied").waitFor();

    expect(JSON.parse(await page.evaluate<string>("clipboard.readText()"))).to.deep.equal({ rows: 12 });
    expect(await page.evaluate("document.activeElement.textContent")).to.equal("Copy Output");
  });
});
