import { expect } from "chai";
import type { Page } from "playwright-core";
import { expectAccessible, findings } from "../support/axe.ts";
import { untilPasses } from "../support/eventually.ts";
import { SCHEMA, useQuestions } from "./useQuestions.ts";

const DESKTOP = { width: 1280, height: 800 };

describe("dashboard questions", () => {
  let jobId: string;
  let path: string;
  const { app, openLive, contexts, ask } = useQuestions((ready) => {
    ({ jobId, path } = ready);
  });
  const gate = async (key = "publish") => (await app.call("GET", `${path}/gates/${key}`)).body;
  const openCount = (page: Page) =>
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Questions" });

  it("counts open questions in the header as they come and go, and lists them by status", async () => {
    const page = await openLive("/gates");
    await page.getByText("No open questions").waitFor();
    await ask("publish");
    await page.getByRole("row", { name: "publish? Nightly import" }).waitFor();
    await openCount(page).getByText("1 open").waitFor();
    await ask("delete");
    await openCount(page).getByText("2 open").waitFor();
    await expectAccessible(page);
    await page.setViewportSize(DESKTOP);

    await app.call("POST", `${path}/gates/publish/answer`, { action: "decline", answeredBy: "Ann" });
    await openCount(page).getByText("1 open").waitFor();
    await page.getByRole("row", { name: "publish?" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Answered", exact: true }).click();
    await page.getByText("Declined by Ann.").waitFor();
    await page.getByRole("link", { name: "publish?" }).click();
    await page.getByRole("heading", { name: "Nightly import" }).waitFor();
    await page.getByText("Waiting").first().waitFor();
  });

  it("answers a question on the page of its job, with a form from the schema", async () => {
    const page = await openLive(`/jobs/${jobId}`);
    const silence = { expiresAt: "2099-01-31T18:00:00Z", onExpiry: "cancel" };
    await ask("publish", {
      ...silence,
      requestedSchema: SCHEMA,
      message: "**12** prices differ: https://example.com/diff",
    });
    const form = page.getByRole("article", { name: "publish?" });
    await form.getByRole("link", { name: "https://example.com/diff" }).waitFor();
    await form.getByText("Without an answer by then, it counts as dismissed.").waitFor();
    await form.getByLabel("Version").fill("7");
    await expectAccessible(page);
    await page.setViewportSize(DESKTOP);
    await untilPasses(async () => expect(await form.getByLabel("Rows at a time").inputValue()).to.equal("500"));
    await form.getByLabel("Note").fill("Two\nlines");
    await form.getByLabel("Notify everybody").check();
    await form.getByLabel("Colour").selectOption("Green");
    await form.getByLabel("us").check();
    await form.getByLabel("Publish at").fill("2026-02-28T12:30");
    await form.getByLabel("Your name").fill("Ann");
    await form.getByRole("button", { name: "Accept" }).click();
    await form.getByText("Version must match").waitFor();
    await untilPasses(async () =>
      expect(await form.getByLabel("Version").getAttribute("aria-invalid")).to.equal("true"),
    );
    await untilPasses(async () => expect((await gate()).status).to.equal("open"));

    await form.getByLabel("Version").fill("v7");
    await form.getByRole("button", { name: "Accept" }).click();
    await form.getByText("Accepted by Ann.").waitFor();
    await untilPasses(async () =>
      expect((await gate()).content).to.deep.equal({
        version: "v7",
        note: "Two\nlines",
        rows: 500,
        notify: true,
        color: "g",
        regions: ["us"],
        at: "2026-02-28T11:30:00.000Z",
      }),
    );
    await openCount(page).getByText("open").waitFor({ state: "detached" });
  });

  it("shows at once that a question has changed, keeps what was entered, and shows names of fields as text", async () => {
    const page = await openLive(`/jobs/${jobId}`);
    const hostile = { type: "string", title: "<img src=x onerror=alert(1)>", default: '"><b>x</b>' };
    const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, hostile } };
    await ask("publish", { requestedSchema: schema });
    await ask("other", { requestedSchema: SCHEMA });
    const form = page.getByRole("article", { name: "publish?" });
    await form.getByLabel("Version").fill("v7");
    await form.getByLabel("us").check();
    await untilPasses(async () => expect(await form.getByLabel(hostile.title).inputValue()).to.equal(hostile.default));
    await form.getByLabel("Colour").selectOption("Red");

    await ask("publish", { title: "Really?", requestedSchema: { ...schema, required: ["version"] } });
    const changed = page.getByRole("article", { name: "Really?" });
    await changed.getByText("Rows at a time (optional)").waitFor();

    await untilPasses(async () => expect(await changed.getByLabel("Version").inputValue()).to.equal("v7"));
    await untilPasses(async () => expect(await changed.getByLabel("us").isChecked()).to.equal(true));
    await untilPasses(async () => expect(await findings(page)).to.deep.equal([]));
    const sent = page.waitForRequest((request) => request.url().endsWith("/answer"));
    await changed.getByRole("button", { name: "Accept" }).click();
    expect((await sent).postDataJSON()).to.include({ revision: 2 });
    await changed.getByText(/Accepted by/).waitFor();
    await untilPasses(async () =>
      expect((await gate()).content).to.deep.include({ version: "v7", regions: ["us"], hostile: hostile.default }),
    );
  });

  describe("the page behind a link", () => {
    it("is accessible when the link cannot be used", async () => {
      const page = await contexts.open(`${app.url}/answer/wrong`);
      await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
      await expectAccessible(page);
    });
  });
});
