import { expect } from "chai";
import type { Locator } from "playwright-core";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { expectAccessible } from "../../support/axe.ts";
import { untilPasses } from "../../support/eventually.ts";
import { acceptRun, createJob, report } from "../../support/factories.ts";

const PHONE = { viewport: { width: 390, height: 780 } };
const HOOK_TOKEN = "a-hook-token-of-length";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
const boxOf = async (locator: Locator): Promise<Box> => (await locator.boundingBox()) as Box;

describe("layout of the dashboard", () => {
  const { app, openLive } = useDashboard({
    config: `{ hooks: { enabled: true, token: "${HOOK_TOKEN}", keepRequests: "7d" }, channels: { log: {} } }`,
  });

  it("leaves no blank lines between the blocks of rendered Markdown", async () => {
    const { jobId } = await createJob(app, {
      name: "Import",
      description: "# Result\n\nAll **well**.\n\n- one\n- two",
    });
    const page = await openLive(`/jobs/${jobId}`);
    const blocks = page.locator(".description .md > *");
    await blocks.nth(2).waitFor();

    await untilPasses(async () => {
      const [heading, text, list] = await Promise.all([0, 1, 2].map((at) => boxOf(blocks.nth(at))));
      const gapOf = (above: Box, below: Box) => below.y - above.y - above.height;
      expect(gapOf(heading as Box, text as Box)).to.be.at.most(12);
      expect(gapOf(text as Box, list as Box)).to.be.at.most(12);
    });
  });

  it("offers to show more of a very long message once all that is loaded is shown", async () => {
    const { jobId, path } = await createJob(app, { name: "Import" });
    await report(app, path, "a", { message: "word ".repeat(3_000) });
    const page = await openLive(`/jobs/${jobId}`);
    const region = page.getByRole("region", { name: "Progress" });
    await region.getByRole("button", { name: "Show all" }).waitFor();
    await untilPasses(async () => expect(await region.getByRole("button", { name: "Show more" }).count()).to.equal(0));

    await region.getByRole("button", { name: "Show all" }).click();
    await region.getByText("The first 6.0 kB of 15.0 kB.").waitFor();
    await region.getByRole("button", { name: "Show more" }).click();
    await region.getByText("The first").waitFor({ state: "detached" });
  });

  it("lines up the brackets of JSON, and its names to the right of them", async () => {
    const { jobId } = await createJob(app, { name: "Import", metadata: { team: "sales", at: { city: "Oslo" } } });
    const page = await openLive(`/jobs/${jobId}`);
    const json = page.getByRole("region", { name: "Metadata, content" });
    await untilPasses(async () => {
      const lefts = await json.evaluate((region) => {
        const leftOf = (text: string) => {
          const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            if (walker.currentNode.nodeValue?.trim() !== text) continue;
            const range = document.createRange();
            range.selectNodeContents(walker.currentNode);
            return Math.round(range.getBoundingClientRect().left);
          }
          return Number.NaN;
        };
        return { start: leftOf("{"), end: leftOf("}"), name: leftOf('"team"'), innerName: leftOf('"at"') };
      });
      expect(lefts.start).to.equal(await json.evaluate((region) => region.getBoundingClientRect().left + 34));
      expect(lefts.name).to.be.greaterThan(lefts.start);
      expect(lefts.innerName).to.equal(lefts.name);
    });
    await untilPasses(async () =>
      expect(await json.evaluate((region) => getComputedStyle(region).fontFamily)).to.include("mono"),
    );
  });

  it("puts a fact that is a time on the line of the others", async () => {
    const { jobId } = await createJob(app, { name: "Import" });
    const page = await openLive(`/jobs/${jobId}`);
    await untilPasses(async () => {
      const bottoms = await page.locator(".facts dd").evaluateAll((facts) =>
        facts.map((fact) => {
          const range = document.createRange();
          range.selectNodeContents(fact.querySelector("time") ?? fact);
          return Math.round(range.getBoundingClientRect().bottom);
        }),
      );
      expect(new Set(bottoms).size, String(bottoms)).to.equal(1);
    });
  });

  it("opens the menu of a phone over the page, and closes it on the way to another page and by Escape", async () => {
    const page = await openLive("/deliveries", PHONE);
    const nav = page.getByRole("navigation", { name: "Main" });
    const menu = page.getByRole("button", { name: "Menu" });
    await nav.waitFor({ state: "hidden" });
    await menu.click();
    const { x, width } = await boxOf(nav);
    expect([x, width]).to.deep.equal([0, 390]);
    for (const group of ["Jobs", "Agent", "Set-up"]) await nav.getByRole("group", { name: group }).waitFor();
    await nav.getByRole("link", { name: "Channels" }).click();
    await page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
    await nav.waitFor({ state: "hidden" });
    await menu.click();
    await page.keyboard.press("Escape");
    await nav.waitFor({ state: "hidden" });
  });

  it("keeps the form that tries a mapping apart from the list, with fields that a finger hits", async () => {
    await app.call("POST", "/hooks/nothing", {}, { Authorization: `Bearer ${HOOK_TOKEN}` });
    const page = await openLive("/requests");
    await page.locator(".table-requests .row").filter({ hasText: "nothing" }).waitFor();
    await page.getByRole("button", { name: "Try a mapping" }).click();
    const form = page.getByRole("form", { name: "Try a mapping" });
    await untilPasses(async () => {
      const [above, table] = [await boxOf(form), await boxOf(page.locator(".table-requests"))];
      expect(table.y - above.y - above.height).to.be.at.least(8);
    });

    await page.setViewportSize(PHONE.viewport);
    await untilPasses(async () =>
      expect((await boxOf(form.getByLabel("Hook", { exact: true }))).height).to.be.at.least(44),
    );
  });

  it("shows no state of live updates on a page without them", async () => {
    const page = await openLive("/");
    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    await page.locator(".live").waitFor({ state: "hidden" });
  });

  it("names what a queued run waits for in the list, on a phone too", async () => {
    const bearer = { Authorization: `Bearer ${HOOK_TOKEN}` };
    await app.call("POST", "/hooks/agent", { message: "Look", name: "First" }, bearer);
    const [run] = (await app.call("GET", "/api/runs")).body.runs;
    await acceptRun(app, run.sessionKey);
    const page = await openLive("/runs");
    const row = page.getByRole("row").filter({ hasText: "Waits for First" });
    await row.getByRole("link", { name: "First" }).waitFor();
    await page.getByRole("row").filter({ hasText: "Waits for its session or a worker" }).waitFor();
    await expectAccessible(page);
    await untilPasses(async () => expect(await row.getByText("–").first().isVisible()).to.equal(false));
    await row.getByRole("link", { name: "First" }).click();
    await page.getByRole("heading", { level: 1, name: "First" }).waitFor();
  });
});
