import { expect } from "chai";
import type { Page } from "playwright-core";
import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../../src/agents/prompt/heartbeatPrompt.ts";
import type { TestApp } from "../support/app.ts";
import { waitForAddress } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { agentRequest } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

const RUN = "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34";

describe("dashboard page of a session", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  const addTurn = (n: number, sessionKey = "main") => {
    const events = [
      { eventId: "e", text: `Event number ${n}`, source: `run ${RUN}`, at: app.clock.now() },
      { eventId: "f", text: "Line one\nLine two", source: "wake hook", at: app.clock.now() },
    ];
    const { text } = heartbeatPrompt({ prompt: DEFAULT_HEARTBEAT_PROMPT, events, maxChars: 100_000 });
    const prompt = sessionKey === "main" ? text : `Question ${n}`;
    const turn = { sessionKey, prompt, outside: false, reply: `Reply number ${n}`, endedAt: app.clock.now() };
    const turnId = sessionKey === "main" ? `turn-${n}` : `${RUN}-${n}`;
    return app.stores.messages.addTurn(turnId, turn);
  };
  const addTurns = async (count: number) => {
    for (let n = 1; n <= count; n++) await addTurn(n);
  };
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
