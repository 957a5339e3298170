import { expect } from "chai";
import type { Page } from "playwright-core";
import { waitForAddress } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { agentRequest } from "../support/factories.ts";
import { RUN, useTranscript } from "./useTranscript.ts";

describe("dashboard page of a session", () => {
  const { app, openLive, addTurn, addTurns } = useTranscript();
  const isAtEnd = (page: Page) =>
    page.evaluate<boolean>("document.documentElement.scrollHeight - innerHeight - scrollY < 2");

  it("folds the instructions, and shows what happened with a link to the run", async () => {
    await addTurn(1);
    const page = await openLive("/sessions/main");
    const prompt = page.getByRole("listitem").filter({ hasText: "Prompt" });
    await prompt.getByText("Event number 1").waitFor();
    const instructions = prompt.getByText("This is a heartbeat");

    await untilPasses(async () => expect(await instructions.isVisible()).to.equal(false));
    const summary = prompt.getByText(/^Instructions, \d\.\d kB$/);
    await summary.focus();
    await page.keyboard.press("Enter");
    await instructions.waitFor();
    await prompt.getByText("wake hook", { exact: true }).waitFor();
    await untilPasses(async () => expect(await prompt.getByText("UNTRUSTED").isVisible()).to.equal(false));
    await prompt.getByRole("link", { name: "Run" }).click();
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    await waitForAddress(page, "pathname", `/runs/${RUN}`);
  });

  it("opens at the newest message, and follows new ones only while the reader is there", async () => {
    await addTurns(30);
    const page = await openLive("/sessions/main");
    await page.getByText("Reply number 30", { exact: true }).waitFor();
    await eventually(() => isAtEnd(page), "the end of the page");

    await addTurn(31);
    await startRun();
    await page.getByText("Reply number 31", { exact: true }).waitFor();
    await eventually(() => isAtEnd(page), "the end of the page after a new message");
    await page.mouse.wheel(0, -900);
    await eventually(async () => !(await isAtEnd(page)), "the page to scroll up");
    const scroll = await page.evaluate("scrollY");
    await addTurn(32);
    await startRun();
    await page.getByText("Reply number 32", { exact: true }).waitFor();

    await untilPasses(async () => expect(await page.evaluate("scrollY")).to.equal(scroll));
    await untilPasses(async () =>
      expect(
        await page
          .getByRole("listitem")
          .filter({ hasText: /^Agent/ })
          .count(),
      ).to.be.at.most(32),
    );
  });

  /** Starts a run, whose event has the page read the transcript again. */
  async function startRun(): Promise<void> {
    const run = { kind: "agent" as const, name: null, sessionKey: "other", singleUse: false, mapped: null };
    await app.stores.runs.accept([{ ...run, request: agentRequest, _id: crypto.randomUUID() }]);
  }
});
