import { expect } from "chai";
import type { Page } from "playwright-core";
import { chooseAction } from "../../dashboard/jobMenu.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { addressOf, waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";

describe("dashboard back navigation", () => {
  const { app, openLive } = useDashboard();

  const open = async (page: Page, name: string) => {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
  };

  const acts: [how: string, (page: Page) => Promise<void>][] = [
    ["Escape", (page) => page.keyboard.press("Escape")],
    ["the link above", (page) => page.getByRole("main").getByRole("link", { name: "Jobs" }).click()],
    [
      "the deletion of the job",
      async (page) => {
        await chooseAction(page, "Delete");
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      },
    ],
  ];
  for (const [how, act] of acts) {
    it(`leads from a job to the filtered list, by ${how}`, async () => {
      await createJob(app, { name: "Of sales", metadata: { team: "sales" } });
      await createJob(app, { name: "Of support", metadata: { team: "support" } });
      const page = await openLive("/?status=running&metadata.team=sales");
      await open(page, "Of sales");

      await act(page);

      await page.getByRole("combobox", { name: /^Search jobs/ }).waitFor();
      await waitForAddress(page, "search", "?status=running&metadata.team=sales");
    });
  }

  it("skips a closed step, and a link to the current page", async () => {
    const { path } = await createJob(app, { name: "With a step" });
    await report(app, path, "a", { stepName: "A step" });
    const page = await openLive();
    await page.getByRole("link", { name: "Running 1" }).click();
    await open(page, "With a step");
    await page.getByRole("link", { name: "A step" }).click();
    await page.getByRole("region", { name: "A step" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL(({ search }) => search === "");

    await page.goBack();
    const afterStep = await addressOf(page);
    await page.getByRole("link", { name: "Running 1" }).click();
    await page.goBack();

    await untilPasses(async () =>
      expect([afterStep, await addressOf(page)]).to.deep.equal([`${app.url}/?status=running`, `${app.url}/`]),
    );
  });
});
