import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { openShowcase, pagesOf, type Showcase } from "./showcase.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Returns axe-core's findings of serious or worse impact with their element, for all rules or the given ones. */
async function findings(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}

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
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(showcase.app.url + path);
      await page.getByText(words).first().waitFor();

      expect(await findings(page), path).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await findings(page, ["color-contrast"]), `${path} in the dark`).to.deep.equal([]);
      await page.setViewportSize({ width: 390, height: 780 });
      expect(await findings(page), `${path} on a phone`).to.deep.equal([]);
      const [width, room] = await page.evaluate<number[]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      expect(width, `the width of ${path} on a phone`).to.equal(room);
    }
  });

  it("has no serious axe-core findings in the login, an empty state, the help and a confirmation", async () => {
    const locked = await startApp({ apiToken: "an-api-token-of-length" });
    try {
      const page = await contexts.open(locked.url);
      await page.getByLabel("API token").waitFor();
      const onLogIn = await findings(page);
      await page.getByLabel("API token").fill("an-api-token-of-length");
      await page.keyboard.press("Enter");
      await page.getByText("No jobs yet").waitFor();
      const inEmptyState = await findings(page);
      await page.goto(`${showcase.app.url}/jobs/backup-eu-3`);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").waitFor();
      const inQuestion = await findings(page);
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();

      expect([onLogIn, inEmptyState, inQuestion, await findings(page)]).to.deep.equal([[], [], [], []]);
    } finally {
      await locked.close();
    }
  });

  it("has one level-one heading on each page, also where the address names nothing", async () => {
    const page = await contexts.open("about:blank");
    const missing = [
      ["/nothing", "Page not found"],
      ["/jobs/nothing", "Job not found"],
      ["/runs/nothing", "Run not found"],
      ["/sessions/nothing", "Session not found"],
    ] as const;
    for (const [path, words] of [...pagesOf(showcase), ...missing]) {
      if (path === "/nothing")
        await page.evaluate("history.pushState(null, '', '/nothing'); dispatchEvent(new PopStateEvent('popstate'))");
      else await page.goto(showcase.app.url + path);
      await page.getByText(words).first().waitFor();

      expect([path, await page.getByRole("heading", { level: 1 }).count()]).to.deep.equal([path, 1]);
    }
  });

  it("starts with a link that skips the header, and sets each page's title", async () => {
    const page = await contexts.openLive(showcase.app.url);
    await page.keyboard.press("Tab");

    expect(await page.evaluate("document.activeElement.textContent")).to.equal("Skip to content");
    const titles: string[] = [];
    for (const name of ["Runs", "Sessions", "Deliveries", "Channels", "Jobs"]) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      titles.push(await page.title());
    }
    expect(titles).to.deep.equal(
      ["Runs", "Sessions", "Deliveries", "Channels", "Jobs"].map((one) => `${one} · Signalbox`),
    );
    expect(await page.evaluate("document.activeElement.id")).to.equal("main");
  });

  it("leaves the arrow keys to a focused region that scrolls", async () => {
    const { path } = await createJob(showcase.app, { input: { lines: Array.from({ length: 100 }, (_, at) => at) } });
    await report(showcase.app, path, "a", { stepName: "A step" });
    const page = await contexts.openLive(showcase.app.url + path.replace("/api", ""));
    const region = page.getByRole("region", { name: "Input, content" });
    await page.getByRole("link", { name: "A step" }).waitFor();
    await region.focus();

    await page.keyboard.press("ArrowDown");

    await eventually(
      () => region.evaluate((one) => (one as unknown as { scrollTop: number }).scrollTop > 0),
      "it to scroll",
    );
    expect(await region.evaluate("document.activeElement.ariaLabel")).to.equal("Input, content");
  });
});
