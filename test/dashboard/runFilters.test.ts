import { waitForAddress } from "../support/browser.ts";
import { useRunList } from "./useRunList.ts";

describe("dashboard filters of runs", () => {
  const { openLive } = useRunList();

  it("show counts that follow the filters, which stand in the address and can be removed", async () => {
    const page = await openLive("/runs");
    const pills = page.getByRole("navigation", { name: "Runs by state" });
    await pills.getByRole("link", { name: "All 2" }).waitFor();
    await pills.getByRole("link", { name: "Failed 1" }).click();
    await page.getByRole("link", { name: "Direct" }).waitFor();
    await waitForAddress(page, "search", "?status=failed");
    await pills.getByRole("link", { name: "All 2" }).click();

    await page.getByTitle("Show only runs of this hook").click();
    await pills.getByRole("link", { name: "All 1" }).waitFor();
    await page.getByRole("link", { name: "Direct" }).waitFor({ state: "detached" });
    await waitForAddress(page, "search", "?mapping=ci");
    await page.getByTitle("Remove this filter").click();
    await page.getByRole("link", { name: "Direct" }).waitFor();

    const session = page.getByRole("combobox", { name: "Session: its whole key" });
    await page.getByRole("combobox", { name: "Hook: name of a mapping" }).focus();
    await page.locator("#mapping-values option[value='ci']").waitFor({ state: "attached" });
    await session.fill("hook:ci");
    await session.press("Enter");
    await pills.getByRole("link", { name: "All 1" }).waitFor();
    await page.getByLabel("Accepted").selectOption("1h");
    await page.waitForURL("**/runs?sessionKey=hook%3Aci&created=1h");
    await page.reload();
    await pills.getByRole("link", { name: "All 1" }).waitFor();
  });
});
