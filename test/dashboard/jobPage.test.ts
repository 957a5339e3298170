import { expect } from "chai";
import type { Page } from "playwright-core";
import { expectAccessible } from "../support/axe.ts";
import { addressOf, waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true };

describe("dashboard page of one job", () => {
  const { app, openLive } = useDashboard();

  describe("panel of a step", () => {
    async function openSteps(options = {}) {
      const { jobId, path } = await createJob(app, { name: "Import" });
      for (const key of ["a", "b", "c"]) {
        await report(app, path, key, { stepName: `Step ${key}`, status: "completed", output: { key } });
      }
      const page = await openLive(`/jobs/${jobId}`, options);
      await page.getByRole("link", { name: "Step a" }).click();
      await shows(page, "a");
      return page;
    }
    async function shows(page: Page, key: string) {
      const panel = page.locator(".panel").filter({ has: page.getByRole("heading", { name: `Step ${key}` }) });
      await panel.getByText(`"key": "${key}"`).waitFor();
      await waitForAddress(page, "search", `?step=${key}`);
    }

    const isFocused = (page: Page, name: string) =>
      untilPasses(async () => expect(await page.evaluate("document.activeElement.textContent")).to.equal(name));

    it("is beside the list, where the keyboard alone selects steps, and closes to the row that was selected", async () => {
      const page = await openSteps();
      await isFocused(page, "Step a");

      await page.keyboard.press("ArrowDown");
      await isFocused(page, "Step b");
      await shows(page, "a");
      await page.keyboard.press("Enter");
      await shows(page, "b");
      await expectAccessible(page);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("region", { name: "Step b" }).waitFor();
      for (const [key, step] of [
        ["ArrowRight", "c"],
        ["ArrowRight", "c"],
        ["ArrowLeft", "b"],
      ] as const) {
        await page.keyboard.press(key);
        await shows(page, step);
      }
      await page.getByRole("button", { name: "Next step" }).focus();
      await page.keyboard.press("Enter");
      await shows(page, "c");
      await page.keyboard.press("Escape");

      await isFocused(page, "Step c");
      await waitForAddress(page, "search", "");
      await page.getByRole("region", { name: "Details" }).waitFor();
      await page.keyboard.press("Escape");
      await waitForAddress(page, "pathname", "/");
    });

    it("is a sheet on a phone, which moves to the next and the previous step by keys, and closes to the row", async () => {
      const page = await openSteps(PHONE);
      await page.getByRole("dialog", { name: "Step a" }).waitFor();

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
      await isFocused(page, "Step a");
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
