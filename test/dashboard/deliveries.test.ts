import { expect } from "chai";
import { waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard list of deliveries", () => {
  const { app, openLive } = useDashboard({ config: "{ channels: { log: {} } }" });

  it("aligns the columns of the header and of all rows, with two actions, one or none", async () => {
    const like = { runId: null, channel: "log", to: "ops", text: "Done", fault: null };
    await app.stores.deliveries.add({ ...like, _id: "waits" });
    await app.stores.deliveries.add({ ...like, _id: "failed", fault: "It was too late." });
    await app.stores.deliveries.add({ ...like, _id: "sent" });
    await app.stores.deliveries.collection.native.updateOne({ _id: "sent" }, { $set: { state: "sent", open: false } });
    const page = await openLive("/deliveries");
    await page.getByText("It was too late.").waitFor();

    await untilPasses(async () => {
      const columns = await page
        .getByRole("row")
        .evaluateAll((rows) =>
          rows.map((row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().left))),
        );
      expect(columns.length).to.equal(4);
      for (const column of columns) expect(column).to.deep.equal(columns[0]);
      const buttons = await page
        .getByRole("row")
        .evaluateAll((rows) =>
          rows.flatMap((row) =>
            [...row.querySelectorAll("button:not(.time-button)")].map(
              (button) => row.getBoundingClientRect().right - button.getBoundingClientRect().right,
            ),
          ),
        );
      expect(buttons.length).to.equal(3);
      expect(Math.min(...buttons)).to.be.at.least(0);
    });
  });

  it("shows the first words, what pending ones wait for, and the counts, while they change", async () => {
    const like = { runId: "r-1", channel: "log", to: "ops", text: "**Nightly report**\n\nAll is well.", fault: null };
    const { deliveries } = app.stores;
    await deliveries.add({ ...like, _id: "first" });
    const page = await openLive("/deliveries");
    const rows = page.getByRole("row");
    const pills = page.getByRole("navigation", { name: "Deliveries by state" });
    await rows.getByText("Nightly report All is well.").waitFor();
    await rows.getByText("Is sent next.").waitFor();
    await pills.getByText("Pending 1").waitFor();

    app.clock.advance(1_000);
    await deliveries.add({ ...like, _id: "second", text: "Later" });
    await rows.getByText("Waits for another delivery to this recipient.").waitFor();
    await pills.getByText("Pending 2").waitFor();
    await deliveries.acquire("first", "w", new Date(app.clock.now().getTime() + 60_000));
    await deliveries.retryLater("first", "w", new Date(Date.now() + 3_600_000), { reason: "Too many requests" });
    await rows.getByText("Next attempt in").waitFor();
    await deliveries.cancel("first");

    await rows.getByText("It was cancelled.").waitFor();
    await rows.getByText("Is sent next.").waitFor();
    await pills.getByText("Pending 1").waitFor();
    await pills.getByRole("link", { name: "Failed 1" }).click();
    await rows.getByText("Later").waitFor({ state: "detached" });
    await untilPasses(async () =>
      expect(await pills.getByRole("link").allTextContents()).to.deep.equal([
        "All 2",
        "Pending 1",
        "Sent 0",
        "Failed 1",
      ]),
    );
    await rows.getByRole("link", { name: "log" }).click();
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    await waitForAddress(page, "pathname", "/runs/r-1");
  });

  it("links what a rule has sent to the notifications, and shows the event", async () => {
    const event = { id: "e", type: "job.failed", rule: "ops" } as const;
    const like = { runId: null, to: "ops", fault: null, event };
    await app.stores.deliveries.add({ ...like, _id: "chat", channel: "log", text: "**ci\\-7** failed." });
    const webhook = { body: '{"secret":1}', contentType: "application/json", url: null };
    await app.stores.deliveries.add({ ...like, _id: "hook", kind: "webhook", channel: "webhook", text: "", webhook });

    const page = await openLive("/deliveries");

    await page.getByText("job.failed by ops ci-7 failed.").waitFor();
    await untilPasses(async () => expect(await page.getByText("secret").count()).to.equal(0));
    await page.getByRole("link", { name: "webhook" }).click();
    await page.getByRole("heading", { level: 1, name: "Notifications" }).waitFor();
  });

  it("fits on a phone with buttons that a finger hits", async () => {
    const like = { runId: null, channel: "log", to: "ops", text: "Done ".repeat(40), fault: null };
    await app.stores.deliveries.add({ ...like, _id: "waits" });
    const page = await openLive("/deliveries", { viewport: { width: 390, height: 780 } });
    await page.getByText("Is sent next.").waitFor();

    await untilPasses(async () => {
      const row = await page.locator(".table-body .row").boundingBox();
      const cells = await page.locator(".table-body [role=cell]").evaluateAll((all) =>
        all.map((cell) => {
          const { top, bottom } = cell.getBoundingClientRect();
          return { top, bottom };
        }),
      );
      const heights = await page
        .locator(".cell-acts button")
        .evaluateAll((all) => all.map((button) => button.getBoundingClientRect().height));
      expect(Math.min(...heights)).to.be.at.least(44);
      const [top, bottom] = [row?.y ?? 0, (row?.y ?? 0) + (row?.height ?? 0)];
      for (const cell of cells) expect(cell.top >= top && cell.bottom <= bottom, JSON.stringify(cell)).to.equal(true);
    });
  });
});
