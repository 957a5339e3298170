import { expect } from "chai";
import { openShowcase, pagesOf, type Showcase } from "../../dashboard/showcase.ts";
import { BrowserContexts } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";

describe("dashboard accessibility", function () {
  this.timeout(180_000);
  const contexts = new BrowserContexts();
  let showcase: Showcase;
  before(async () => {
    showcase = await openShowcase();
  });
  afterEach(() => contexts.closeAll());
  after(() => showcase.close());

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

      await untilPasses(async () =>
        expect([path, await page.getByRole("heading", { level: 1 }).count()]).to.deep.equal([path, 1]),
      );
    }
  });
});
