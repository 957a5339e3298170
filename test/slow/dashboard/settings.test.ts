import { expect } from "chai";
import { READ_ONLY, TOKEN, useSettings } from "../../dashboard/useSettings.ts";
import { expectAccessible } from "../../support/axe.ts";
import { untilPasses } from "../../support/eventually.ts";

describe("dashboard page of the settings", () => {
  const { app, logIn } = useSettings();

  it("is in the navigation, under g t and in the palette", async () => {
    const page = await logIn(TOKEN);
    const title = page.getByRole("heading", { level: 1, name: "Settings" });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Settings" }).click();
    await title.waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await title.waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await title.waitFor();
    await page.goto(app.url);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Page, job or run" }).fill("sett");
    await page.keyboard.press("Enter");
    await title.waitFor();

    await untilPasses(async () => expect(await page.title()).to.equal("Settings · Signalbox"));
  });

  it("says when no worker is connected", async () => {
    const page = await logIn(TOKEN);
    await page.goto(`${app.url}/settings`);

    await page.getByText("No worker is connected: runs and deliveries wait for one").waitFor();
  });

  it("shows the configuration only to tokens with the scope admin", async () => {
    const page = await logIn(READ_ONLY);
    await page.goto(`${app.url}/settings`);

    await page.getByText("The configuration is shown to tokens with the scope admin").waitFor();
    await untilPasses(async () => expect(await page.getByText("Configuration in force").count()).to.equal(0));
  });

  it("has no axe-core findings in light, dark and at 390 px, and scrolls in one direction only", async () => {
    const page = await logIn(TOKEN);
    await page.goto(`${app.url}/settings`);
    await page.getByRole("heading", { name: "Configuration in force" }).waitFor();
    await expectAccessible(page);
  });
});
