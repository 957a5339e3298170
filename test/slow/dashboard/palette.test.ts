import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { findings } from "../../support/axe.ts";
import { waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";

describe("dashboard palette", () => {
  const { openLive } = useDashboard();

  it("takes the key that follows at once", async () => {
    const page = await openLive("/");
    const isInField = await page.evaluate<boolean>(`(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
      for (let turn = 0; turn < 5; turn++) await null; // No frame is painted meanwhile.
      return document.activeElement?.role === "combobox" || document.activeElement?.getAttribute("role") === "combobox";
    })()`);
    expect(isInField).to.equal(true);
  });

  it("opens with a button, works on a phone, closes with Escape, and is accessible", async () => {
    const page = await openLive("/", { viewport: { width: 390, height: 800 } });
    const button = page.getByRole("button", { name: "Go to a page, job or run" });
    await button.click();
    await page.getByRole("option", { name: "Questions" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await untilPasses(async () => expect(await findings(page)).to.deep.equal([]));
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await button.click();
    await page.getByRole("option", { name: "Questions" }).click();

    await page.getByRole("heading", { name: "Questions", exact: true }).waitFor();
    await waitForAddress(page, "pathname", "/gates");
  });
});
