import { expect } from "chai";
import type { TestApp } from "../support/app.ts";
import { findings } from "../support/axe.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard palette", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  it("takes the key that follows at once", async () => {
    const page = await openLive("/");
    const isInField = await page.evaluate<boolean>(`(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
      for (let turn = 0; turn < 5; turn++) await null; // No frame is painted meanwhile.
      return document.activeElement?.role === "combobox" || document.activeElement?.getAttribute("role") === "combobox";
    })()`);
    expect(isInField).to.equal(true);
  });

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
    expect(new URL(page.url()).search).to.equal("?search=Nightly");
  });

  it("opens with a button, works on a phone, closes with Escape, and is accessible", async () => {
    const page = await openLive("/", { viewport: { width: 390, height: 800 } });
    const button = page.getByRole("button", { name: "Go to a page, job or run" });
    await button.click();
    await page.getByRole("option", { name: "Questions" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(page)).to.deep.equal([]);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await button.click();
    await page.getByRole("option", { name: "Questions" }).click();

    await page.getByRole("heading", { name: "Questions", exact: true }).waitFor();
    expect(new URL(page.url()).pathname).to.equal("/gates");
  });
});
