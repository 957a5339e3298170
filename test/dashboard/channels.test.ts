import { useDashboard } from "./useDashboard.ts";

const ACCOUNT = "ada@example.org";

describe("dashboard page of channels", () => {
  const { app, openLive } = useDashboard({
    config: `{
        hooks: { enabled: true, token: "a-hook-token-of-length", presets: ["gmail"], gmail: { account: "${ACCOUNT}" } },
        channels: { log: {} },
        session: { main: { channel: "log", to: "ops" } },
      }`,
  });

  it("shows a channel whose credentials are refused, with a badge in the navigation, until no delivery waits", async () => {
    const { deliveries } = app.stores;
    const [_id, reason] = ["stopped-one", "The service answered 401."];
    const now = app.clock.now();
    await deliveries.add({ _id, runId: null, channel: "log", to: "ops", text: "Done.", fault: null });
    await deliveries.acquire(_id, "t", new Date(now.getTime() + 60_000));
    const channelStop = { since: now, reason };
    await deliveries.retryLater(_id, "t", new Date(now.getTime() + 300_000), { reason, channelStop });

    const page = await openLive("/runs");
    await page.getByRole("link", { name: "Channels 1 stopped" }).click();
    const card = page.locator("li.card", { has: page.getByRole("heading", { name: "log" }) });
    await card.locator(".status-failed", { hasText: "Stopped" }).waitFor();
    await card.locator(".fault", { hasText: reason }).waitFor();
    await card.getByText("Next try").waitFor();

    await deliveries.cancel(_id);
    await card.locator(".status-failed").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Channels", exact: true }).waitFor();
  });
});
