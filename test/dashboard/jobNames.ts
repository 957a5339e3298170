import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";

/** Returns the names in a list from top to bottom. */
export const names = (page: Page): Promise<string[]> => page.locator(".table-body .cell-name a").allTextContents();

/** Waits until a list shows exactly these names, in this order. */
export async function waitForNames(page: Page, wanted: readonly string[]): Promise<void> {
  await eventually(async () => (await names(page)).join() === wanted.join(), `the list to be ${wanted.join()}`);
}
