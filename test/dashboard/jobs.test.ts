import { expect } from "chai";
import type { Page } from "playwright-core";
import { expectNoSidewaysScrolling } from "../support/axe.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { names, waitForNames } from "./jobNames.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard list of jobs", () => {
  const { app, openLive } = useDashboard();

  const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
  const countOf = (page: Page, state: string) => page.getByRole("link", { name: new RegExp(`^${state} \\d`) });

  it("updates progress, message and step with each report, and shows a failure and another attempt", async () => {
    const page = await openLive();
    const { path } = await createJob(app, { name: "A long one" });
    const row = rowOf(page, "A long one");
    await report(app, path, "a", { ...whole(40), stepName: "First step", message: "40 of 100 done" });
    await row.getByText("40 of 100 done").waitFor();
    await row.getByText("First step").waitFor();

    await report(app, path, "a", { status: "failed", failJob: true, message: "The disk is full" });
    await row.getByText("Failed", { exact: true }).waitFor();
    await row.getByText("The disk is full").waitFor();
    await report(app, path, "a", { ...whole(41), status: "running", message: "Once more" });
    await app.call("PUT", path, { status: "running" });

    await row.getByText("attempt 2").waitFor();
    await row.getByText("Running").waitFor();
    await untilPasses(async () =>
      expect(await row.getByRole("progressbar").getAttribute("aria-valuetext")).to.equal("41 %"),
    );
  });

  it("lists the newest job first and removes deleted jobs", async () => {
    const first = await createJob(app, { name: "First" });
    await createJob(app, { name: "Second" });
    const page = await openLive();
    await waitForNames(page, ["Second", "First"]);

    await createJob(app, { name: "Third" });
    await waitForNames(page, ["Third", "Second", "First"]);
    await app.call("DELETE", first.path);

    await waitForNames(page, ["Third", "Second"]);
    await countOf(page, "All").getByText("2").waitFor();
    await app.call("DELETE", "/api/jobs");
    await page.getByText("No jobs yet").waitFor();
  });

  it("is operated by the keys j, k, Enter and Escape, with ? for help", async () => {
    for (const name of ["Bottom", "Middle", "Top"]) await createJob(app, { name });
    const page = await openLive();
    await waitForNames(page, ["Top", "Middle", "Bottom"]);
    const focused = () => page.evaluate("document.activeElement.textContent");

    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await untilPasses(async () => expect(await focused()).to.equal("Middle"));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Middle" }).waitFor();
    await page.keyboard.press("Escape");
    await waitForNames(page, ["Top", "Middle", "Bottom"]);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("r");

    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });

  it("shows hostile names as text: HTML, right-to-left, very long", async () => {
    const hostile = ["<img src=x onerror=alert(1)><b>bold</b>", "\u202Ekcehc \u202Dtfel ot thgir", "x".repeat(1_024)];
    // Signs that reverse the direction of what follows are shown as a box.
    const shown = (name: string) => name.replace(/[\u202d\u202e]/g, "▯");
    for (const name of hostile) await createJob(app, { name, description: name, metadata: { [name]: name } });
    const page = await openLive();
    await eventually(async () => (await names(page)).length === 3, "the jobs");
    await untilPasses(async () => expect(await names(page)).to.deep.equal(hostile.map(shown).toReversed()));
    await untilPasses(async () => expect(await page.locator(".table").textContent()).not.to.match(/[\u202d\u202e]/));

    await expectNoSidewaysScrolling(page);
    for (const name of hostile) {
      await page
        .locator(".table-body .cell-name a")
        .filter({ hasText: shown(name) })
        .click();
      await page.getByRole("heading", { level: 1 }).waitFor();
      await untilPasses(async () =>
        expect(await page.getByRole("heading", { level: 1 }).textContent()).to.equal(shown(name)),
      );
      await expectNoSidewaysScrolling(page);
      await page.goBack();
    }
  });

  it("uses the system's theme, or the selected one, which is stored", async () => {
    const page = await openLive("/", { colorScheme: "dark" });
    const brightness = () =>
      page.evaluate<number>("Number(getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0])");
    const bars = () =>
      page.evaluate<boolean>(
        "document.querySelector('meta[name=theme-color]').content === getComputedStyle(document.documentElement).backgroundColor",
      );
    await untilPasses(async () => expect(await brightness()).to.be.lessThan(64));
    await untilPasses(async () => expect(await bars()).to.equal(true));

    await page.getByRole("button", { name: "Theme: system" }).click();
    await untilPasses(async () => expect(await brightness()).to.be.greaterThan(192));
    await untilPasses(async () => expect(await bars()).to.equal(true));
    await page.reload();

    await page.getByRole("button", { name: "Theme: light" }).waitFor();
    await untilPasses(async () => expect(await brightness()).to.be.greaterThan(192));
  });
});
