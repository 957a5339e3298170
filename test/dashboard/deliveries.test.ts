import { expect } from "chai";
import type { TestApp } from "../support/app.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard list of deliveries", () => {
  let app: TestApp;
  const { openLive } = useDashboard(
    (started) => {
      app = started;
    },
    { config: "{ channels: { log: {} } }" },
  );

  it("aligns the columns of the header and of all rows, with two actions, one or none", async () => {
    const like = { runId: null, channel: "log", to: "ops", text: "Done", fault: null };
    await app.stores.deliveries.add({ ...like, _id: "waits" });
    await app.stores.deliveries.add({ ...like, _id: "failed", fault: "It was too late." });
    await app.stores.deliveries.add({ ...like, _id: "sent" });
    await app.stores.deliveries.collection.updateOne({ _id: "sent" }, { $set: { state: "sent", open: false } });
    const page = await openLive("/deliveries");
    await page.getByText("It was too late.").waitFor();

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
          [...row.querySelectorAll("button")].map(
            (button) => row.getBoundingClientRect().right - button.getBoundingClientRect().right,
          ),
        ),
      );
    expect(buttons.length).to.equal(3);
    expect(Math.min(...buttons)).to.be.at.least(0);
  });
});
