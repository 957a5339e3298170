import { expect } from "chai";
import { expectAccessible } from "../support/axe.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

describe("the children of a job on the page", () => {
  const { app, openWithClock } = useDashboard();

  it("are a tree of one level that follows their state, and lead to their parent", async () => {
    await app.call("PUT", "/api/jobs/parent", { name: "Import" });
    const page = await openWithClock("/jobs/parent");
    await page.getByRole("heading", { name: "Import" }).waitFor();
    for (const name of ["North", "South"]) await app.call("PUT", `/api/jobs/${name}`, { name, parentJobId: "parent" });
    await app.call("PUT", "/api/jobs/below", { name: "Grandchild", parentJobId: "North" });
    const related = page.getByRole("region", { name: "Related jobs" });
    const rows = () => related.getByRole("listitem").allTextContents();
    await page.clock.fastForward(6_000); // the interval of its reads
    await untilPasses(async () => expect(await rows()).to.deep.equal(["Running South 0 %", "Running North 0 %"]));
    await app.call("PUT", "/api/jobs/South", { status: "completed" });
    await page.clock.fastForward(6_000);
    await untilPasses(async () => expect(await rows()).to.deep.equal(["Completed South 100 %", "Running North 0 %"]));
    await expectAccessible(page);

    await related.getByRole("link", { name: "North" }).click();
    await related.getByRole("link", { name: "Grandchild" }).waitFor();
    await related.getByRole("link", { name: "parent" }).click();

    await page.getByRole("heading", { name: "Import" }).waitFor();
  });
});
