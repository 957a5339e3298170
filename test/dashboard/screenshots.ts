import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { BrowserContexts } from "../support/browser.ts";
import { filmJobs } from "./movingPicture.ts";
import { openShowcase, pagesOf, type Showcase } from "./showcase.ts";

const PLACE = join("docs", "screenshots");
const WIDE = { viewport: { width: 1280, height: 800 } };
const TALL = { viewport: { width: 1280, height: 960 } };
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true };

/** Not a test: `npm run screenshots` writes the screenshots of the docs with it. */
describe("the screenshots", () => {
  const contexts = new BrowserContexts();
  let showcase: Showcase;
  before(async () => {
    showcase = await openShowcase();
  });
  after(async () => {
    await contexts.closeAll();
    await showcase.close();
  });

  const shot = async (name: string, path: string, options: BrowserContextOptions = WIDE) => {
    const [, words = ""] = pagesOf(showcase).find(([one]) => one === path) ?? [];
    const page = await contexts.openLive(showcase.app.url + path, { reducedMotion: "reduce", ...options });
    await page.getByText(words).first().waitFor();
    if (path === "/") await page.locator("b.some").first().waitFor(); // the counts, which are read after the list
    await page.screenshot({ path: join(PLACE, `${name}.png`) });
  };

  it("show the list of jobs", () => shot("jobs", "/"));
  it("show the list of jobs in the dark", () => shot("jobs-dark", "/", { ...WIDE, colorScheme: "dark" }));
  it("show one job", () => shot("job", "/jobs/research-battery-recycling", TALL));
  it("show one step", () => shot("step-dark", "/jobs/reindex-support?step=swap", { ...WIDE, colorScheme: "dark" }));
  it("show a run", () => shot("run", `/runs/${showcase.runs[0]}`, TALL));
  it("show a phone", () => shot("phone", "/", PHONE));
  it("show jobs that move", async () => {
    const page = await contexts.openLive(showcase.app.url, {
      reducedMotion: "reduce",
      viewport: { width: 1040, height: 560 },
    });
    await page.getByText("Invoices for October").first().waitFor();
    await page.locator("b.some").first().waitFor();
    writeFileSync(join(PLACE, "moving.webp"), await filmJobs(showcase.app, page));
  });
  it("show a question on a phone", async () => {
    const { app } = showcase;
    const step = { stepName: "Publish the prices", progress: 10, jobProgressStart: 60, jobProgressEnd: 100 };
    await app.call("PUT", "/api/jobs/shop-prices", { name: "Update the shop", metadata: { shop: "eu-3" } });
    await app.call("PUT", "/api/jobs/shop-prices/steps/publish", { ...step, message: "240 of 2,060 prices differ" });
    const requestedSchema = {
      type: "object",
      properties: { batch: { type: "integer", title: "Prices at a time", minimum: 1, default: 20 } },
    };
    const message = "12 of them by more than half. The old prices stay in the backup of last night.";
    const question = { title: "Publish 240 prices?", message, requestedSchema };
    await app.call("PUT", "/api/jobs/shop-prices/gates/publish", question);
    const page = await contexts.openLive(`${app.url}/jobs/shop-prices`, { reducedMotion: "reduce", ...PHONE });
    await page.getByText("Publish 240 prices?").first().waitFor();
    await page.screenshot({ path: join(PLACE, "phone-question.png") });
  });
  it("show a job on a phone", () => shot("phone-job", "/jobs/research-battery-recycling", PHONE));
});
