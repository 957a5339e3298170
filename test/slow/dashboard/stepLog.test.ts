import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import type { TestApp } from "../../support/app.ts";
import { createJob, report } from "../../support/factories.ts";

const LINES = 100_000;

describe("a long log on the page", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  for (const [screen, options] of [
    ["a wide window", {}],
    ["a phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ] as const) {
    it(`keeps few of 100,000 lines in the document in ${screen}, and follows them until somebody scrolls up`, async () => {
      const job = await createJob(app);
      await report(app, job.path, "a", {});
      const add = (text: string) => app.call("POST", `${job.path}/steps/a/log`, text, { "Content-Type": "text/plain" });
      await add("the beginning");
      const page = await openLive(`/jobs/${job.jobId}?step=a`, options);
      const log = page.getByRole("log");
      await log.getByText("the beginning").waitFor();

      await add("x\n".repeat(LINES));
      await add(`the end ${"of a long line ".repeat(40)}`);
      await log.getByText("the end").waitFor();
      const rows = await page.locator(".log-row").count();
      const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
      const isTooWide = await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");
      await page.evaluate("document.querySelector('.log-lines').scrollTo(0, 900_000)");
      await log.getByText("the end").waitFor({ state: "detached" });
      const seq = await page.locator(".log-row .log-seq").first().textContent();
      await add("added below");
      await page.locator(".log-head input").fill("added below");
      await log.getByText("added below").waitFor();
      await page.locator(".log-head input").fill("");

      await page
        .locator(".log-seq", { hasText: seq as string })
        .first()
        .waitFor();
      expect(await log.getByText("added below").count()).to.equal(0);
      expect(rows).to.be.within(10, 100);
      expect(elements).to.be.below(2_000);
      expect(isTooWide).to.equal(false);
    });
  }
});
