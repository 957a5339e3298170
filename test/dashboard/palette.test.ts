import { waitForAddress } from "../support/browser.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard palette", () => {
  const { app, openLive } = useDashboard();

  it("opens a page, a job by its id or name, a run by its id, and a search, with the keyboard", async () => {
    await app.call("PUT", "/api/jobs/ci%2Fbuild%207", { name: "Nightly build" });
    await app.call("PUT", "/api/jobs/other", { name: "Import" });
    const page = await openLive("/");
    const choose = async (text: string, choice: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Page, job or run" }).fill(text);
      const option = page.getByRole("option", { name: choice });
      await option.waitFor();
      while ((await option.getAttribute("aria-selected")) !== "true") await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };

    await choose("deliv", "Deliveries");
    await page.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
    await choose("ci/build 7", "Nightly build ci/build 7");
    await page.getByRole("heading", { name: "Nightly build" }).waitFor();
    await choose("nigh", "Nightly build ci/build 7");
    await page.getByRole("heading", { name: "Nightly build" }).waitFor();
    await choose("impo", "Import other");
    await page.getByRole("heading", { name: "Import", exact: true }).waitFor();
    const runId = "0b0f1a52-5c0e-4f55-9d6e-3c2a1f0d7e11";
    await choose(runId, `${runId} run`);
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    await choose("Nightly", "Search jobs for “Nightly”");
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    await waitForAddress(page, "search", "?search=Nightly");
  });
});
