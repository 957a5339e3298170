import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { BrowserContexts } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe("the guide", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    app = await startApp({ apiToken: "a-token-of-32-characters-for-tests" });
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("has no axe-core findings and no sideways scrolling, light, dark or on a phone", async () => {
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 390],
    ] as const) {
      for (const path of ["how-to/deploy", "search?q=backup"]) {
        const page = await contexts.open(`${app.url}/guide/${path}`, { colorScheme, viewport: { width, height: 800 } });
        await page.evaluate(AXE);
        const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");

        expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => String(target))])).to.deep.equal([]);
        await untilPasses(async () =>
          expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(width),
        );
      }
    }
  });

  it("leads from a page to the list of pages on a phone", async () => {
    const page = await contexts.open(`${app.url}/guide/how-to/deploy`, { viewport: { width: 390, height: 800 } });

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Pages" }).click();

    const pages = page.getByRole("navigation", { name: "Pages" });
    await untilPasses(async () => expect((await pages.boundingBox())?.y).to.be.below(800));
  });
});
