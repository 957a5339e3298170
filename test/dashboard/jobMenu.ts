import type { Page } from "playwright-core";

/** Opens the menu of a job's page, and presses one of its buttons. */
export async function chooseAction(page: Page, name: string): Promise<void> {
  await page.locator("summary[aria-label='More actions']").click();
  await page.getByRole("button", { name }).click();
}
