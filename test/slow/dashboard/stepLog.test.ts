import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";

/** The page keeps the newest 100,000 lines: with those that the test adds, none is dropped. */
const LINES = 99_990;
/** The height of a line, in pixels. */
const LINE_HEIGHT = 18;

describe("a long log on the page", () => {
  const { app, openLive } = useDashboard();

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
      const scrollTop = () => page.evaluate<number>("document.querySelector('.log-lines').scrollTop");
      const before = await scrollTop();
      await add("added below");
      const height = () => page.evaluate<number>("document.querySelector('.log-lines > div').offsetHeight");
      await untilPasses(async () => expect(await height()).to.equal((LINES + 3) * LINE_HEIGHT));

      expect(await scrollTop()).to.equal(before);
      expect(await log.getByText("added below").count()).to.equal(0);
      expect(rows).to.be.within(10, 100);
      expect(elements).to.be.below(2_000);
      expect(isTooWide).to.equal(false);
    });
  }
});
