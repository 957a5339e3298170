import { expect } from "chai";
import { createJob } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard lists", () => {
  const { app, contexts } = useDashboard();

  it("are read again when the connection is back", async () => {
    await createJob(app, { name: "Before" });
    const page = await contexts.openLive(app.url);
    await page.getByText("Before").waitFor();
    await page.context().setOffline(true);
    await page.getByText("Offline").waitFor();
    await createJob(app, { name: "Meanwhile" });

    await page.context().setOffline(false);

    await page.getByText("Meanwhile").waitFor();
  });

  it("keep their rows until those of another filter are loaded", async () => {
    await createJob(app, { name: "Nightly report" });
    const page = await contexts.openLive(app.url);
    const row = page.getByRole("link", { name: "Nightly report" });
    await row.waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/jobs\?/, async (route) => {
      await held.promise;
      await route.continue();
    });

    await page.getByLabel("Search jobs").fill("weekly");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Jobs, newest first" }).and(page.locator("[aria-busy=true]")).waitFor();
    const whileLoading = await row.count();
    held.resolve();
    await row.waitFor({ state: "detached" });

    expect(whileLoading).to.equal(1);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
});
