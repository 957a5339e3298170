import { expect } from "chai";
import type { Page } from "playwright-core";
import { enterToken } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

const TOKENS = { SIGNALBOX_API_TOKEN: "an-api-token-of-length", SIGNALBOX_HOOKS_TOKEN: "a-hook-token-of-length" };

const commandOf = (page: Page) => page.getByRole("region", { name: "Command" });

describe("dashboard empty states", () => {
  const { app, contexts } = useDashboard({
    apiToken: TOKENS.SIGNALBOX_API_TOKEN,
    config: `{ hooks: { enabled: true, token: "${TOKENS.SIGNALBOX_HOOKS_TOKEN}" } }`,
  });

  const logIn = async (options = {}): Promise<Page> => {
    const page = await contexts.open(app.url, options);
    await enterToken(page, TOKENS.SIGNALBOX_API_TOKEN);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  };

  it("explain how to configure a channel", async () => {
    const page = await logIn();
    await page.goto(`${app.url}/channels`);

    await page.getByRole("heading", { name: "No channels yet" }).waitFor();
    await untilPasses(async () => expect(await commandOf(page).textContent()).to.equal("npx signalbox channels check"));
    await untilPasses(async () =>
      expect(await page.getByRole("link", { name: /^Guide: / }).getAttribute("href")).to.equal(
        "/guide/how-to/set-up-a-channel",
      ),
    );
  });
});
