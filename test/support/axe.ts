import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { untilPasses } from "./eventually.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Returns axe-core's findings of serious or worse impact with their element, for all rules or the given ones. */
export async function findings(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}

/** Expects no findings in light, in dark and on a phone, where the page must not scroll sideways. The page stays that small. */
export async function expectAccessible(page: Page, name = ""): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await untilPasses(async () => expect(await findings(page), `${name} in light`).to.deep.equal([]));
  await page.emulateMedia({ colorScheme: "dark" });
  await untilPasses(async () =>
    expect(await findings(page, ["color-contrast"]), `${name} in the dark`).to.deep.equal([]),
  );
  await page.setViewportSize({ width: 390, height: 780 });
  await untilPasses(async () => expect(await findings(page), `${name} on a phone`).to.deep.equal([]));
  await expectNoSidewaysScrolling(page, name);
}

/** Waits until a page is no wider than its window. */
export async function expectNoSidewaysScrolling(page: Page, name = ""): Promise<void> {
  const widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
  await untilPasses(async () => {
    const [width, room] = await page.evaluate<number[]>(widths);
    expect(width, `the width of ${name}`).to.equal(room);
  });
}
