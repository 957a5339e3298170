import { expect } from "chai";
import type { Page } from "playwright-core";
import { RUN, useTranscript } from "../../dashboard/useTranscript.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";

describe("dashboard page of a session", () => {
  const { openLive, addTurn, addTurns } = useTranscript();
  const isAtEnd = (page: Page) =>
    page.evaluate<boolean>("document.documentElement.scrollHeight - innerHeight - scrollY < 2");
  const topOf = async (page: Page, text: string) =>
    (await page.getByText(text, { exact: true }).boundingBox())?.y ?? Number.NaN;

  it("links the prompts of another session to their runs", async () => {
    await addTurn(3, "hook:ci");
    const page = await openLive("/sessions/hook%3Aci");
    const prompt = page.getByRole("listitem").filter({ hasText: "Question 3" });

    await untilPasses(async () =>
      expect(await prompt.getByRole("link", { name: "Run" }).getAttribute("href")).to.equal(`/runs/${RUN}`),
    );
  });

  it("loads older messages upwards, without a jump", async () => {
    await addTurns(60);
    const page = await openLive("/sessions/main");
    await page.getByText("Reply number 60", { exact: true }).waitFor();
    await eventually(() => isAtEnd(page), "the end of the page");
    await untilPasses(async () => expect(await page.getByText("Reply number 35", { exact: true }).count()).to.equal(0));
    const measured = Promise.withResolvers<void>();
    await page.route(/cursor=/, async (route) => {
      await measured.promise;
      await route.continue();
    });

    await page.getByText("Reply number 37", { exact: true }).scrollIntoViewIfNeeded();
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    const before = await topOf(page, "Reply number 37");
    measured.resolve();
    await page.getByText("Reply number 35", { exact: true }).waitFor({ state: "attached" });
    await eventually(
      async () => Math.abs((await topOf(page, "Reply number 37")) - before) < 3,
      "the message in its place",
    );

    for (let n = 0; n < 3; n++) {
      await page.getByRole("list", { name: "Transcript" }).getByRole("listitem").first().scrollIntoViewIfNeeded();
    }
    await page.getByText("Reply number 1", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Show older messages" }).waitFor({ state: "detached" });
    const replies = () => page.getByText(/^Reply number \d+$/).allTextContents();
    const all = Array.from({ length: 60 }, (_, at) => `Reply number ${at + 1}`);
    await untilPasses(async () => expect(await replies()).to.deep.equal(all));
  });

  it("keeps what the reader opens in its place", async () => {
    await addTurns(20);
    const page = await openLive("/sessions/main");
    await page.getByText("Reply number 20", { exact: true }).waitFor();
    await eventually(() => isAtEnd(page), "the end of the page");
    const summary = page.getByText(/^Instructions/).last();
    const before = (await summary.boundingBox())?.y ?? 0;

    await summary.click();

    await page.getByText("This is a heartbeat").last().waitFor();
    await untilPasses(async () => expect(Math.abs(((await summary.boundingBox())?.y ?? 0) - before)).to.be.below(2));
  });
});
