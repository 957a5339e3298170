import { expect } from "chai";
import { chooseAction } from "../../dashboard/jobMenu.ts";
import { openShowcase, pagesOf, type Showcase } from "../../dashboard/showcase.ts";
import { startApp } from "../../support/app.ts";
import { expectAccessible, findings } from "../../support/axe.ts";
import { BrowserContexts, enterToken } from "../../support/browser.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";

describe("dashboard accessibility", function () {
  this.timeout(180_000);
  const contexts = new BrowserContexts();
  let showcase: Showcase;
  before(async () => {
    showcase = await openShowcase();
  });
  afterEach(() => contexts.closeAll());
  after(() => showcase.close());

  it("has no serious axe-core findings on any page, light, dark or on a phone, and no horizontal scrolling", async () => {
    const page = await contexts.open("about:blank", { reducedMotion: "reduce", colorScheme: "light" });
    for (const [path, words] of pagesOf(showcase)) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(showcase.app.url + path);
      await page.getByText(words).first().waitFor();
      await expectAccessible(page, path);
    }
  });

  it("has no serious axe-core findings in the login, an empty state, the help and a confirmation", async () => {
    const locked = await startApp({ apiToken: "an-api-token-of-length" });
    try {
      const page = await contexts.open(locked.url);
      const expectNoFindings = () => untilPasses(async () => expect(await findings(page)).to.deep.equal([]));
      await page.getByLabel("Token", { exact: true }).waitFor();
      await expectNoFindings();
      await enterToken(page, "an-api-token-of-length");
      await page.getByText("No jobs yet").waitFor();
      await expectNoFindings();
      await page.goto(`${showcase.app.url}/jobs/backup-eu-3`);
      await chooseAction(page, "Delete");
      await page.getByRole("dialog").waitFor();
      await expectNoFindings();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Help" }).waitFor();
      await expectNoFindings();
      const { jobId, path } = await createJob(showcase.app, { name: "To be cancelled" });
      await page.goto(`${showcase.app.url}/jobs/${jobId}`);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("dialog", { name: "Cancel this job?" }).waitFor();
      await expectNoFindings();
      await page.getByLabel("Reason (optional)").fill("No longer needed");
      await page.keyboard.press("Enter");
      await page.getByText("Cancel requested, no report yet").waitFor();
      await expectNoFindings();
      await showcase.app.call("DELETE", path);
    } finally {
      await locked.close();
    }
  });

  it("starts with a link that skips the header, and sets each page's title", async () => {
    const page = await contexts.openLive(showcase.app.url);
    await page.keyboard.press("Tab");

    await untilPasses(async () =>
      expect(await page.evaluate("document.activeElement.textContent")).to.equal("Skip to content"),
    );
    for (const name of ["Runs", "Sessions", "Deliveries", "Notifications", "Channels", "Jobs"]) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await untilPasses(async () => expect(await page.title()).to.equal(`${name} · Signalbox`));
    }
    await untilPasses(async () => expect(await page.evaluate("document.activeElement.id")).to.equal("main"));
  });

  it("leaves the arrow keys to a focused region that scrolls", async () => {
    const { path } = await createJob(showcase.app);
    await report(showcase.app, path, "a", { stepName: "A step" });
    const log = "a line\n".repeat(100);
    await showcase.app.call("POST", `${path}/steps/a/log`, log, { "Content-Type": "text/plain" });
    const page = await contexts.openLive(`${showcase.app.url}${path.replace("/api", "")}?step=a`);
    const region = page.getByRole("log", { name: "Lines" });
    await page.getByRole("link", { name: "A step" }).waitFor();
    await region.getByText("a line").first().waitFor();
    await region.focus();

    const scrollTop = () => region.evaluate((one) => (one as unknown as { scrollTop: number }).scrollTop);
    await eventually(async () => (await scrollTop()) > 0, "the end of the log");
    const before = await scrollTop();
    await page.keyboard.press("ArrowUp");

    await eventually(async () => (await scrollTop()) < before, "it to scroll");
    await untilPasses(async () => expect(await region.evaluate("document.activeElement.ariaLabel")).to.equal("Lines"));
  });
});
