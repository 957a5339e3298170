import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";

const PHONE = { viewport: { width: 390, height: 780 } };

describe("dashboard panel of a step", () => {
  const { app, openLive } = useDashboard();

  const openStep = async (jobId: string, stepKey: string, options = {}) => {
    const page = await openLive(`/jobs/${jobId}?step=${stepKey}`, { ...PHONE, ...options });
    return { page, panel: page.getByRole("dialog") };
  };

  it("copies an output without the clipboard API, as over plain http, and shows a toast above the panel", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { output: { rows: 12 } });
    const { page, panel } = await openStep(jobId, "a", { permissions: ["clipboard-read", "clipboard-write"] });
    await panel.getByText('"rows": 12').waitFor();
    await page.evaluate(`window.clipboard = navigator.clipboard;
      Object.defineProperty(navigator, "clipboard", { value: undefined })`);

    await panel.getByRole("button", { name: "Copy Output" }).click();
    await panel.getByText("Output copied").waitFor();

    await untilPasses(async () =>
      expect(JSON.parse(await page.evaluate<string>("clipboard.readText()"))).to.deep.equal({ rows: 12 }),
    );
    await untilPasses(async () =>
      expect(await page.evaluate("document.activeElement.ariaLabel")).to.equal("Copy Output"),
    );
  });

  it("marks a step as stale, as the list does", async () => {
    const { jobId, path } = await createJob(app, { staleAfterSeconds: 1 });
    await report(app, path, "a", { progress: 10 });

    const { panel } = await openStep(jobId, "a");

    await panel.getByText("Stale").waitFor();
  });

  it("shows no step of a deleted job after a job with the same id was created", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { stepName: "Of the first", output: { of: "the first" } });
    const { page, panel } = await openStep(jobId, "a");
    await panel.getByText('"the first"').waitFor();
    await app.call("DELETE", path);
    await panel.waitFor({ state: "detached" });

    await app.call("PUT", path, {});
    await panel.getByText("Step not found").waitFor();
    await untilPasses(async () => expect(await page.getByText("Of the first").count()).to.equal(0));
    await report(app, path, "a", { stepName: "Of the second", output: { of: "the second" } });

    await panel.getByRole("heading", { name: "Of the second" }).waitFor();
    await panel.getByText('"the second"').waitFor();
  });
});
