import { waitForAddress } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard back navigation", () => {
  const { app, openLive } = useDashboard();

  it("leads from a job that was opened by its address to the unfiltered list", async () => {
    const { jobId } = await createJob(app, { name: "By a link" });
    const page = await openLive(`/jobs/${jobId}`);

    await page.keyboard.press("Escape");

    await page.getByRole("link", { name: "By a link" }).waitFor();
    await waitForAddress(page, "href", `${app.url}/`);
  });
});
