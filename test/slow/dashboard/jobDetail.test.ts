import { expect } from "chai";
import { chooseAction } from "../../dashboard/jobMenu.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";

describe("dashboard details of a job", () => {
  const { app, contexts, openLive } = useDashboard();

  it("notifies of the end of a job after a click", async () => {
    const { jobId, path } = await createJob(app, { name: "Import" });
    const page = await contexts.open("about:blank");
    // Chromium's headless shell has no notifications.
    await page.addInitScript(`window.shown = [];
      window.Notification = class { constructor(title, { body }) { shown.push([title, body]); } };
      Notification.permission = "granted";
      Notification.requestPermission = async () => "granted"`);
    await page.goto(`${app.url}/jobs/${jobId}`);
    await chooseAction(page, "Notify when done");
    await page.locator("[aria-pressed=true]").getByText("Notify when done").waitFor({ state: "attached" });

    await report(app, path, "a", { ...whole(100), status: "completed", message: "All rows", output: {} });
    await page.getByText("Completed").first().waitFor();
    await page.getByText("Notify when done").waitFor({ state: "detached" });

    await untilPasses(async () =>
      expect(await page.evaluate("shown")).to.deep.equal([["Import: completed", "All rows"]]),
    );
  });

  it("switches all times to the browser's zone and to UTC by a click, and keeps the choice", async () => {
    const { jobId } = await createJob(app, {});
    const page = await openLive(`/jobs/${jobId}`, { timezoneId: "Asia/Tokyo" });
    const { createdAt } = (await app.call("GET", `/api/jobs/${jobId}`)).body;
    const shown = (hours: number) =>
      new Date(Date.parse(createdAt) + hours * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
    const created = page.locator(".facts time").first();

    await created.click();
    await created.getByText(shown(9), { exact: true }).waitFor();
    await page.locator(".time-button").first().press("Enter");
    await created.getByText(`${shown(0)}Z`, { exact: true }).waitFor();
    await page.reload();

    await created.getByText(`${shown(0)}Z`, { exact: true }).waitFor();
  });

  it("cuts long names and messages with Show all", async () => {
    const name = "A very long name ".repeat(60);
    const { jobId, path } = await createJob(app, { name });
    await report(app, path, "a", { ...whole(20), message: "a line\n".repeat(1_000) });
    const page = await openLive(`/jobs/${jobId}`);
    const heightOf = async (selector: string) => (await page.locator(selector).boundingBox())?.height ?? 0;
    const heading = page.locator("h1");
    await page.getByRole("button", { name: "Show all" }).nth(1).waitFor();

    await untilPasses(async () => expect(await heading.getAttribute("title")).to.equal(name));
    await untilPasses(async () => expect(await heightOf("h1")).to.be.lessThan(90));
    await untilPasses(async () => expect(await heightOf(".said .clamp")).to.be.lessThan(160));
    await page.locator(".said").getByRole("button", { name: "Show all" }).click();
    await page.locator(".said").getByRole("button", { name: "Show less" }).waitFor();
    await untilPasses(async () => expect(await heightOf(".said .raw-text")).to.be.greaterThan(10_000));
  });

  it("searches, folds and copies paths in a JSON output of 3 MB", async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, text: `row ${id} ${"x".repeat(70)}` }));
    const { jobId, path } = await createJob(app);
    const output = { note: "# Report\n\n- first\n- second", rows };
    await report(app, path, "a", { ...whole(100), status: "completed", output });
    const page = await openLive(`/jobs/${jobId}`, { permissions: ["clipboard-read", "clipboard-write"] });
    const block = page.getByRole("region", { name: "Output", exact: true });
    await block.getByRole("heading", { name: "Output" }).click();
    await block.getByRole("listitem").filter({ hasText: "second" }).waitFor();
    await block.getByText("100 of 30,000.").waitFor();

    await block.getByLabel("Search in Output").fill("ROW 29999");
    await block.getByText("1 found").waitFor();
    await block.getByRole("button", { name: ".rows[29999].text" }).click();
    await page.getByText("Path copied").waitFor();
    await untilPasses(async () =>
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).to.equal(".rows[29999].text"),
    );
    await block.getByLabel("Search in Output").fill("");
    await block.getByRole("button", { name: "Fold .rows", exact: true }).click();

    await block.getByText("[ 30,000 items ]").waitFor();
    await untilPasses(async () => expect(await page.locator(".json-line").count()).to.be.lessThan(20));
  });
});
