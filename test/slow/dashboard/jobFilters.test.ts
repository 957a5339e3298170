import { expect } from "chai";
import { waitForNames } from "../../dashboard/jobNames.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { findings } from "../../support/axe.ts";
import { waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

describe("filters of the dashboard's list of jobs", () => {
  const { app, openLive, openWithClock } = useDashboard();

  it("show a sign that changes the direction of the text as a box", async () => {
    const page = await openLive(`/?metadata.team=${encodeURIComponent("sa\u202Eles")}`);
    await page.getByRole("button", { name: "Remove the filter team = sa▯les" }).waitFor();
    await createJob(app, { name: "in\u202Evoice" });

    await page.keyboard.press("Control+k");
    await page.keyboard.type("in");
    await page.getByRole("option", { name: "in▯voice" }).waitFor();
  });

  it("are saved as views, opened and removed; columns are chosen; both stay after a reload", async () => {
    await createJob(app, { name: "Report", metadata: { team: "sales" } });
    await createJob(app, { name: "Backup" });
    const page = await openLive("/?metadata.team=sales");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name of the view").fill("Sales");
    await page.keyboard.press("Enter");
    const view = page.getByRole("link", { name: "Sales", exact: true });
    await view.waitFor();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("Message").uncheck();
    await page.keyboard.press("Escape");
    await page.getByLabel("Message").waitFor({ state: "hidden" });
    await page.getByLabel("Select Report").check();
    await untilPasses(async () => expect(await findings(page)).to.deep.equal([]));

    await page.goto(app.url);
    await waitForNames(page, ["Backup", "Report"]);
    await view.click();
    await waitForNames(page, ["Report"]);

    await waitForAddress(page, "search", "?metadata.team=sales");
    await untilPasses(async () => expect(await view.getAttribute("aria-current")).to.equal("true"));
    await untilPasses(async () =>
      expect(await page.getByRole("columnheader").allTextContents()).to.deep.equal([
        ...["Select", "Job", "Metadata", "Progress", "State", "Duration", "Age"],
      ]),
    );
    await page.getByRole("button", { name: "Remove the view Sales" }).click();
    await page.getByRole("button", { name: "Save view" }).waitFor();
    await page.reload();
    await waitForNames(page, ["Report"]);
    await untilPasses(async () => expect(await view.count()).to.equal(0));
  });

  it("search for text that is typed while an earlier search begins", async () => {
    await createJob(app, { name: "abc" });
    await createJob(app, { name: "abd" });
    const page = await openLive();
    await page.evaluate(`const replace = history.replaceState.bind(history);
      history.replaceState = (...more) => {
        history.replaceState = replace;
        replace(...more);
        queueMicrotask(() => {
          const box = document.querySelector("input[type=search]");
          box.value = "abd";
          box.dispatchEvent(new Event("input", { bubbles: true }));
        });
      }`);

    await page.getByRole("combobox", { name: /^Search jobs/ }).fill("ab");

    await waitForNames(page, ["abd"]);
    await untilPasses(async () =>
      expect(await page.getByRole("combobox", { name: /^Search jobs/ }).inputValue()).to.equal("abd"),
    );
  });

  it("move the last 15 minutes along with the clock", async () => {
    // A response can set the page's clock right again, after which the job is too old in less time than the test waits.
    app.clock.advance(-14.6 * 60_000);
    await createJob(app, { name: "Soon too old" });
    app.clock.advance(14.6 * 60_000);
    await createJob(app, { name: "New" });
    const page = await openWithClock("/?created=15m");
    await page.getByText("Live", { exact: true }).waitFor();
    await waitForNames(page, ["New", "Soon too old"]);

    await page.clock.fastForward(60_000);

    await waitForNames(page, ["New"]);
  });
});
