import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

const HOOK_TOKEN = "a-hook-token-of-length";

describe("layout of the dashboard", () => {
  const { app, openLive } = useDashboard({
    config: `{ hooks: { enabled: true, token: "${HOOK_TOKEN}", keepRequests: "7d" }, channels: { log: {} } }`,
  });

  it("writes the actions of a delivery on one line", async () => {
    const like = { runId: null, channel: "log", to: "ops", text: "Done", fault: null };
    await app.stores.deliveries.add({ ...like, _id: "waits" });
    const page = await openLive("/deliveries");
    const buttons = page.locator(".cell-acts button");
    await buttons.first().waitFor();
    const heights = () => buttons.evaluateAll((all) => all.map((button) => button.getBoundingClientRect().height));
    await untilPasses(async () => expect(await heights()).to.deep.equal([32, 32]));
  });

  it("lines up the checkboxes of the columns", async () => {
    const page = await openLive();
    await page.getByText("Columns", { exact: true }).click();
    const boxes = page.locator(".columns input");
    await boxes.first().waitFor();
    const places = () =>
      boxes.evaluateAll((all) =>
        all.map((one) => {
          const { left, width } = one.getBoundingClientRect();
          return [left, width];
        }),
      );
    await untilPasses(async () => {
      const [first, ...others] = await places();
      expect(first?.[1]).to.equal(20);
      for (const place of others) expect(place).to.deep.equal(first);
    });
  });
});
