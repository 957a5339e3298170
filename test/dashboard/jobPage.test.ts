import { expect } from "chai";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { addressOf, waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard page of one job", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  describe("panel of a step", () => {
    async function openSteps() {
      const { jobId, path } = await createJob(app, { name: "Import" });
      for (const key of ["a", "b", "c"]) {
        await report(app, path, key, { stepName: `Step ${key}`, status: "completed", output: { key } });
      }
      const page = await openLive(`/jobs/${jobId}`);
      await page.getByRole("link", { name: "Step a" }).click();
      await shows(page, "a");
      return page;
    }
    async function shows(page: Page, key: string) {
      const panel = page.getByRole("dialog", { name: `Step ${key}` });
      await panel.getByText(`"key": "${key}"`).waitFor();
      await waitForAddress(page, "search", `?step=${key}`);
    }

    it("moves to the next and the previous step by keys, and back to the row that was opened", async () => {
      const page = await openSteps();

      const moves = [
        ["j", "b"],
        ["ArrowRight", "c"],
        ["j", "c"],
        ["k", "b"],
        ["ArrowLeft", "a"],
        ["k", "a"],
      ] as const;
      for (const [key, step] of moves) {
        await page.keyboard.press(key);
        await shows(page, step);
      }
      await page.keyboard.press("Escape");

      await page.getByRole("dialog").waitFor({ state: "detached" });
      await untilPasses(async () =>
        expect(await page.evaluate("document.activeElement.textContent")).to.equal("Step a"),
      );
      await waitForAddress(page, "search", "");
      await page.goBack();
      await untilPasses(async () => expect(await addressOf(page)).to.not.include("step="));
    });
  });

  it("leads to the jobs beside it in the list, and back to the list with its filters", async () => {
    for (const name of ["First", "Second", "Third"]) {
      await createJob(app, { name, metadata: { team: "sales" } });
      app.clock.advance(1_000);
    }
    const page = await openLive("/?metadata.team=sales");
    await page.getByRole("link", { name: "Second" }).click();
    const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
    await heading("Second");

    await page.getByRole("link", { name: "Next job of the list" }).click();
    await heading("First");
    await untilPasses(async () =>
      expect(await page.getByRole("link", { name: "Next job of the list" }).count()).to.equal(0),
    );
    await page.getByRole("link", { name: "Previous job of the list" }).click();
    await page.getByRole("link", { name: "Previous job of the list" }).click();
    await heading("Third");
    await page.keyboard.press("Escape");

    await page.getByRole("link", { name: "First" }).waitFor();
    await waitForAddress(page, "search", "?metadata.team=sales");
  });
});
