import { expect } from "chai";
import type { Page } from "playwright-core";
import { answerUrl } from "../../../src/models/gates/answerLinks.ts";
import { SCHEMA, useQuestions } from "../../dashboard/useQuestions.ts";
import { expectAccessible } from "../../support/axe.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";

describe("dashboard questions", () => {
  let jobId: string;
  let path: string;
  const { app, openLive, contexts, ask } = useQuestions((ready) => {
    ({ jobId, path } = ready);
  });
  const gate = async (key = "publish") => (await app.call("GET", `${path}/gates/${key}`)).body;

  it("is answered with the keyboard alone", async () => {
    await ask("publish", { requestedSchema: SCHEMA });
    const page = await openLive("/gates");
    await page.getByRole("row", { name: "publish?" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const form = page.getByRole("article", { name: "publish?" });
    await form.getByLabel("Version").waitFor();
    await tabTo(page, "Version");
    await page.keyboard.type("v7");
    await tabTo(page, "Colour");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "Accept");
    await page.keyboard.press("Enter");
    await form.getByText("Accepted by").waitFor();
    await untilPasses(async () =>
      expect(await gate()).to.deep.include({
        action: "accept",
        content: { version: "v7", rows: 500, notify: false, color: "r" },
      }),
    );
  });

  it("shows that somebody else has answered, and offers no form to a token that may only read", async () => {
    await ask("publish");
    const page = await openLive(`/jobs/${jobId}`);
    const form = page.getByRole("article", { name: "publish?" });
    await form.getByRole("button", { name: "Accept" }).waitFor();
    await app.call("POST", `${path}/gates/publish/answer`, { action: "decline", answeredBy: "Bob" });
    await form.getByText("Declined by Bob.").waitFor();
    await untilPasses(async () =>
      expect(await form.getByRole("button", { name: /Accept|Decline/ }).count()).to.equal(0),
    );
  });

  describe("the page behind a link", () => {
    const linkOf = async (key = "publish") => {
      const stored = await app.stores.gates.collection.native.findOne({ key });
      if (!stored) throw new Error("there is no gate");
      return answerUrl(app.stores.answerLinks, app.url, stored);
    };

    it("is accessible, works without scripts and with the keyboard alone, and shows the answer", async () => {
      await ask("publish", { requestedSchema: SCHEMA });
      const link = await linkOf();
      const checked = await contexts.open(link);
      await expectAccessible(checked);

      const page = await contexts.open(link, { javaScriptEnabled: false });
      await tabTo(page, "Version", false);
      await page.keyboard.type("x7");
      await page.getByLabel("Rows at a time").press("Tab");
      await page.getByLabel("Colour").press("ArrowDown");
      await page.getByLabel("Your name").focus();
      await page.keyboard.type("Ann");
      await page.getByRole("button", { name: "Accept" }).press("Enter");
      await page.getByRole("alert").waitFor();
      await page.getByText("Version must match").waitFor();
      await untilPasses(async () => expect(await page.getByLabel("Your name").inputValue()).to.equal("Ann"));
      await page.getByLabel("Version").fill("v7");
      await page.getByRole("button", { name: "Accept" }).press("Enter");
      await page.getByText("Ann (by link)").waitFor();
      await eventually(async () => (await gate()).status === "answered", "the answer");
      await checked.reload();
      await checked.getByText("Ann (by link)").waitFor();
      await expectAccessible(checked);
    });
  });
});

/** Presses Tab until the element with a label or name has the focus. */
async function tabTo(page: Page, name: string, hasScripts = true): Promise<void> {
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const focused = hasScripts
      ? await page.evaluate<string>(
          "(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent ?? ''",
        )
      : await page.locator(":focus").getAttribute("id");
    if (hasScripts ? focused?.includes(name) : focused === (await page.getByLabel(name).getAttribute("id"))) return;
  }
  throw new Error(`${name} cannot be reached with Tab`);
}
