import { expect } from "chai";
import type { Page } from "playwright-core";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { waitForAddress } from "../../support/browser.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true };

describe("dashboard page of one job", () => {
  const { app, contexts, openLive, openWithClock } = useDashboard();

  describe("time left", () => {
    const timeLeft = (page: Page) => page.locator(".facts div").filter({ hasText: "Time left" });

    /** Opens the page of a job that began 90 seconds ago and progressed by 10 % every 30 seconds. */
    async function openSteady() {
      app.clock.advance(-90_000);
      const { jobId, path } = await createJob(app, { name: "Import" });
      const page = await openLive(`/jobs/${jobId}`);
      for (const percent of [10, 20]) {
        app.clock.advance(30_000);
        await report(app, path, "a", { ...whole(percent), message: `${percent} rows` });
        await page.locator(".said").getByText(`${percent} rows`).waitFor();
      }
      await timeLeft(page)
        .getByText(/^about [34] min$/)
        .waitFor();
      return { page, path };
    }

    const ends: [string, (path: string) => Promise<unknown>][] = [
      ["its cancellation is requested", (path) => app.call("POST", `${path}/cancel`)],
      ["it has ended", (path) => report(app, path, "a", { ...whole(100), status: "completed", output: {} })],
      ["it waits for a person", (path) => app.call("PUT", `${path}/gates/go`, { title: "Go on?" })],
      ["it is no longer steady", (path) => report(app, path, "a", whole(70))],
      ["it is stale", (path) => app.call("PUT", path, { staleAfterSeconds: 1 })],
    ];
    for (const [title, act] of ends) {
      it(`is shown while the job progresses steadily, until ${title}`, async () => {
        const { page, path } = await openSteady();

        await act(path);

        await timeLeft(page).waitFor({ state: "detached" });
      });
    }
  });

  it("shows the row of the list at once, while the job is read", async () => {
    const { jobId, path } = await createJob(app, { name: "Import", input: { file: "a.csv" } });
    await report(app, path, "a", { ...whole(40), stepName: "Load", message: "40 rows" });
    const page = await openLive();
    const reading = Promise.withResolvers<void>();
    await page.route(new RegExp(`/api/jobs/${jobId}(/steps)?(\\?|$)`), async (route) => {
      await reading.promise;
      await route.continue();
    });

    await page.getByRole("link", { name: "Import" }).click();

    await page.getByRole("heading", { level: 1, name: "Import" }).waitFor();
    await page.locator(".said").getByText("40 rows").waitFor();
    const bar = page.getByRole("progressbar", { name: "Progress of Import" });
    await untilPasses(async () => expect(await bar.getAttribute("aria-valuenow")).to.equal("40"));
    await untilPasses(async () =>
      expect(await page.locator("button:disabled").first().textContent()).to.include("Copy JSON"),
    );
    await untilPasses(async () => expect(await page.getByText("No steps yet").count()).to.equal(0));
    reading.resolve();
    await page.getByRole("region", { name: "Input", exact: true }).getByText("a.csv").waitFor();
    await page.getByRole("row").filter({ hasText: "Load" }).waitFor();
    await untilPasses(async () => expect(await page.locator("button:disabled").count()).to.equal(0));
  });

  it("asks less and less often for a job that is not there", async () => {
    const page = await openWithClock("/");
    await page.getByText("No jobs yet").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/api/jobs/nobody")) asked.push(pathname);
    });
    await page.goto(`${app.url}/jobs/nobody`);
    await page.getByText("Job not found").waitFor();
    await eventually(() => asked.some((path) => path.endsWith("/events")), "the refused stream");
    expect(asked.length).to.be.at.most(4);

    for (const seconds of [3, 6, 12, 24, 30, 30]) {
      const before = asked.length;
      if (seconds > 3) await page.clock.runFor(seconds * 600);
      expect(asked.length, `before ${seconds} s`).to.equal(before);
      const answer = page.waitForResponse((response) => response.url().endsWith("/api/jobs/nobody"));
      await page.clock.runFor(seconds > 3 ? seconds * 500 : 3_000);
      await answer;
      expect(asked.slice(before), `after ${seconds} s`).to.deep.equal(["/api/jobs/nobody"]);
    }
  });

  describe("panel of a step", () => {
    async function openSteps() {
      const { jobId, path } = await createJob(app, { name: "Import" });
      for (const key of ["a", "b", "c"]) {
        await report(app, path, key, { stepName: `Step ${key}`, status: "completed", output: { key } });
      }
      const page = await openLive(`/jobs/${jobId}`);
      await page.getByRole("link", { name: "Step a" }).click();
      await shows(page, "a");
      return page;
    }
    async function shows(page: Page, key: string) {
      const panel = page.getByRole("region", { name: `Step ${key}` });
      await panel.getByText(`"key": "${key}"`).waitFor();
      await waitForAddress(page, "search", `?step=${key}`);
    }

    it("moves by its buttons, which keep the focus at the ends", async () => {
      const page = await openSteps();
      const next = page.getByRole("button", { name: "Next step" });

      for (const step of ["b", "c", "c"]) {
        await next.click({ force: step === "c" });
        await shows(page, step);
      }

      await untilPasses(async () => expect(await next.getAttribute("aria-disabled")).to.equal("true"));
      await untilPasses(async () =>
        expect(await page.evaluate("document.activeElement.ariaLabel")).to.equal("Next step"),
      );
      await page.getByRole("button", { name: "Previous step" }).click();
      await shows(page, "b");
    });

    it("leaves the keys to a field", async () => {
      const { jobId, path } = await createJob(app, {});
      const output = { rows: Array.from({ length: 400 }, (_, at) => ({ at, name: `Row ${at}` })) };
      await report(app, path, "a", { stepName: "Step a", status: "completed", output });
      await report(app, path, "b", { stepName: "Step b" });
      const page = await openLive(`/jobs/${jobId}?step=a`);
      await page.getByRole("region", { name: "Output", exact: true }).getByText("Output", { exact: true }).click();
      const field = page.getByRole("searchbox", { name: "Search in Output" });

      await field.pressSequentially("jk");
      await field.press("ArrowLeft");

      await untilPasses(async () => expect(await field.inputValue()).to.equal("jk"));
      await waitForAddress(page, "search", "?step=a");
    });
  });

  it("has the link and the cancellation in one row on a phone, and all other actions in a menu", async () => {
    const { jobId } = await createJob(app, { name: "Import" });
    const page = await openLive(`/jobs/${jobId}`, PHONE);
    const menu = page.locator("summary[aria-label='More actions']");
    await menu.waitFor();

    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: "Copy JSON" }).isVisible()).to.equal(false),
    );
    await untilPasses(async () => {
      const buttons = await page
        .locator(".page-head .acts > :is(button, details)")
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
      expect(new Set(buttons.map(({ top }) => top)).size).to.equal(1);
      for (const { height } of buttons) expect(height).to.be.at.least(44);
    });
    await menu.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Download" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Download" }).waitFor({ state: "hidden" });
    await untilPasses(async () =>
      expect(await page.getByRole("heading", { level: 1, name: "Import" }).count()).to.equal(1),
    );
  });

  it("shows names that are written from right to left beside their ids, and signs of direction as boxes", async () => {
    await app.call("PUT", "/api/jobs/rtl", { name: "ייבוא נתונים" });
    await app.call("PUT", "/api/jobs/spoofed", { name: "invoice\u202Efdp.exe" });
    const page = await contexts.openLive(app.url);
    const name = page.getByRole("link", { name: "ייבוא נתונים" });
    await name.waitFor();

    await untilPasses(async () => {
      const [text, cell] = await name.evaluate((link) => {
        const range = link.ownerDocument.createRange();
        range.selectNodeContents(link);
        return [range.getBoundingClientRect().left, link.parentElement?.getBoundingClientRect().left ?? 0];
      });
      expect((text ?? 0) - (cell ?? 0)).to.be.below(2);
    });
    await page.getByRole("link", { name: "invoice▯fdp.exe" }).waitFor();
  });
});
