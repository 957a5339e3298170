import { expect } from "chai";
import { bearer, useRunList } from "../../dashboard/useRunList.ts";
import { expectAccessible } from "../../support/axe.ts";
import { untilPasses } from "../../support/eventually.ts";

describe("dashboard filters of runs", () => {
  const { app, openLive } = useRunList();

  it("find words anywhere in a name, also of a run that comes while the page is open", async () => {
    const page = await openLive("/runs");
    const search = page.getByRole("searchbox", { name: "Words of the name, or an id" });
    await search.fill("check DEPLOY");
    await search.press("Enter");
    await page.getByText("No runs match").waitFor();

    const deploy = { message: "a", name: "Deployment: health check" };
    await app.call("POST", "/hooks/agent", deploy, bearer);
    await app.call("POST", "/hooks/agent", { message: "b", name: "Deployment" }, bearer);

    await page.getByRole("link", { name: deploy.name }).waitFor();
    await page.getByRole("link", { name: "All 1" }).waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("link", { name: "Deployment", exact: true }).count()).to.equal(0),
    );
    await page.getByTitle("Remove this filter").click();
    await page.getByRole("link", { name: "Deployment", exact: true }).waitFor();
  });

  it("count a new run while the page is open", async () => {
    const page = await openLive("/runs?mapping=ci");
    await page.getByRole("link", { name: "All 1" }).waitFor();

    await app.call("POST", "/hooks/ci", { build: 2 }, bearer);

    await page.getByRole("link", { name: "All 2" }).waitFor();
  });

  it("have no axe-core findings in light, dark and at 390 px", async () => {
    const page = await openLive("/runs?mapping=ci");
    await page.getByRole("link", { name: "All 1" }).waitFor();
    await expectAccessible(page);
  });
});
