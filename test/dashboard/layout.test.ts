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
});
