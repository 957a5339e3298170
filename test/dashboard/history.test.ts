import { expect } from "chai";
import { countsOf, trendOf } from "../../src/dashboard/data/history.ts";
import { expectAccessible } from "../support/axe.ts";
import { waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard page of the history", () => {
  const { app, openLive, contexts } = useDashboard({
    config: JSON.stringify({ expect: [{ id: "import", name: "Import", every: "1d" }] }),
  });

  /** Creates jobs of half a minute each, of which the last fails and another one is running. */
  async function createJobs(): Promise<void> {
    for (const jobId of ["a", "b", "c"]) {
      await app.call("PUT", `/api/jobs/${jobId}`, { name: "Import" });
      app.clock.advance(30_000);
      const failed = { status: "failed", message: "The disk is full" };
      await app.call("PUT", `/api/jobs/${jobId}`, jobId === "c" ? failed : { status: "completed" });
    }
    await app.call("PUT", "/api/jobs/d", { name: "Import" });
    await app.stores.expectations.begin("import", "Import");
  }

  it("shows an example while no job has a name, which neither the keyboard nor a screen reader reaches", async () => {
    const page = await contexts.open(`${app.url}/history`);
    await page.getByText("Nightly import").waitFor();

    await expectAccessible(page);
    expect(await page.getByRole("main").getByRole("link", { name: "Nightly import" }).count()).to.equal(0);
  });

  for (const width of [1280, 390])
    it(`shows each name with its jobs and opens one by keyboard, ${width} pixels wide`, async () => {
      await createJobs();
      const page = await contexts.open(`${app.url}/history`, { viewport: { width, height: 800 } });
      const row = page.getByRole("listitem").filter({ hasText: "Import" });
      await row.getByRole("img", { name: "2 completed, 1 failed, 1 running" }).waitFor();
      await row.getByText("The disk is full").waitFor();
      await row.getByText("Next due").waitFor();
      await expectAccessible(page);
      const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(await isTooWide()).to.equal(false);

      await row.getByRole("link", { name: "Import" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Import" }).waitFor();
      await page.getByRole("img", { name: "2 completed, 1 failed, 1 running, over time" }).waitFor();
      await untilPasses(async () =>
        expect(await page.getByRole("rowheader").allTextContents()).to.deep.equal(["d", "c", "b", "a"]),
      );
      await expectAccessible(page);
      expect(await isTooWide()).to.equal(false);
      await page.getByRole("link", { name: "Day" }).click();
      await waitForAddress(page, "search", "?name=Import&window=1d");
      await page.getByRole("link", { name: "c", exact: true }).click();
      await page.getByRole("heading", { name: "Import" }).waitFor();
    });

  it("shows the usual duration, the usual end and the time left of a job without progress", async () => {
    const durations = { 93: 10 }; // about two hours
    const figures = { seconds: 86_400, start: new Date(), name: "Import", started: 0, completed: 10, failed: 0 };
    const expiresAt = new Date(Date.now() + 86_400_000);
    await app.database.collections.jobFigures.insertOne({ ...figures, durations, expiresAt } as never);
    await app.call("PUT", "/api/jobs/d", { name: "Import" });
    await app.call("PUT", "/api/jobs/d/steps/s", { stepName: "Load", progress: 0 });
    const page = await openLive("/jobs/d");
    await page.getByText(/usually 1\d\d? ?(s|min)|usually \d+(\.\d+)? (s|min)/).waitFor();
    await page.getByText("Time left").waitFor();
    await page.locator(".usual-end").waitFor();
    await expectAccessible(page);
  });
});

describe("the history of a name in words", () => {
  const runs = (...durations: number[]) =>
    durations.map((durationMs, i) => ({ jobId: `${i}`, status: "completed" as const, durationMs, startedAt: "" }));

  it("has a trend from the sixth completed job on", () => {
    expect(trendOf(runs(1, 1, 1, 1, 1))).to.equal(null);
    expect(trendOf(runs(11, 10, 10, 10, 10, 10))).to.equal("steady");
    expect(trendOf(runs(15, 15, 15, 10, 10, 10))).to.equal("↑ 50 % longer");
    expect(trendOf(runs(35, 35, 35, 10, 10, 10))).to.equal("↑ 3.5 times as long");
    expect(trendOf(runs(5, 5, 5, 10, 10, 10))).to.equal("↓ 50 % shorter");
  });

  it("names only the states that jobs have", () => {
    const cancelled = { ...(runs(1)[0] as ReturnType<typeof runs>[number]), status: "cancelled" as const };

    expect(countsOf(runs(1, 2))).to.equal("2 completed");
    expect(countsOf([...runs(1), cancelled])).to.equal("1 completed, 1 cancelled");
  });
});
