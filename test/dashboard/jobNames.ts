import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";

/** The names in a list, from above. */
export const names = (page: Page): Promise<string[]> => page.locator(".table-body .cell-name a").allTextContents();

/** Waits until a list shows just these names, in this order. */
export async function shows(page: Page, wanted: readonly string[]): Promise<void> {
  await eventually(async () => (await names(page)).join() === wanted.join(), `the list to be ${wanted.join()}`);
}
