import { expect } from "chai";
import { chooseAction } from "../../dashboard/jobMenu.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { enterToken, waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";

describe("dashboard login", () => {
  const config = "{ channels: { log: {} } }";
  const { app, contexts, openWithClock } = useDashboard({ apiToken: TOKEN, readOnlyToken: READ_ONLY, config });
  beforeEach(async () => {
    const auth = { Authorization: `Bearer ${TOKEN}` };
    await app.call("PUT", "/api/jobs/behind-the-door", { name: "Behind the door" }, auth);
  });

  it("names the service to password managers, and nothing more to people and screen readers", async () => {
    const page = await contexts.open(app.url);
    await page.getByLabel("Token", { exact: true }).waitFor();
    const name = page.locator("input[autocomplete=username]");
    await page.keyboard.press("Shift+Tab");

    await untilPasses(async () => expect(await name.inputValue()).to.equal(new URL(app.url).host));
    await untilPasses(async () => expect(await page.getByRole("textbox").count()).to.equal(1)); // that of the token
    await untilPasses(async () => expect(await page.evaluate("document.activeElement.name")).to.not.equal("username"));
  });

  it("fits the full header of a read-only token into any width", async () => {
    const page = await contexts.open(app.url);
    await enterToken(page, READ_ONLY);
    await page.getByText("Live", { exact: true }).waitFor();

    for (const width of [320, 360, 900, 1024, 1401, 1440]) {
      await page.setViewportSize({ width, height: 600 });
      await untilPasses(async () => {
        const [end, nav, head] = await page.evaluate<number[]>(
          `[".top-end", ".top nav", ".top"].map((part) => document.querySelector(part).getBoundingClientRect().bottom)`,
        );
        const [links, room] = await page.evaluate<number[]>(
          `(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector(".top nav"))`,
        );

        expect(Math.max(end as number, nav as number), `at ${width}`).to.be.at.most(head as number);
        if (width >= 900) expect(links, `the links at ${width}`).to.be.at.most(room as number);
      });
    }
  });

  it("shows runs and deliveries without actions to a read-only token", async () => {
    const { runs, deliveries } = app.stores;
    const run = { kind: "wake" as const, sessionKey: "main", singleUse: false, mapped: null, request: null };
    await runs.accept([
      { ...run, _id: "run-1", name: "Failed run" },
      { ...run, _id: "run-2", name: "Waiting run" },
    ]);
    await runs.cancel("run-1");
    await deliveries.add({ _id: "d", runId: "run-1", channel: "log", to: "x", text: "x", fault: "It was too late." });
    const acts = /^(Retry|Cancel)$/;
    const reader = await contexts.open(`${app.url}/runs/run-1`);
    const owner = await contexts.open(`${app.url}/runs/run-1`);
    for (const [page, token, count] of [
      [owner, TOKEN, 1],
      [reader, READ_ONLY, 0],
    ] as const) {
      await enterToken(page, token);
      await page.waitForURL("**/runs/run-1"); // Otherwise the next navigation would abort the login.
      for (const [path, words] of [
        ["/runs/run-1", "It was too late."],
        ["/runs/run-2", "Waiting run"],
        ["/deliveries", "It was too late."],
      ] as const) {
        await page.goto(app.url + path);
        await page.getByText(words).first().waitFor();
        await untilPasses(async () => {
          const offered = await page.getByRole("button", { name: acts }).count();
          expect(Math.min(1, offered), `${path} with ${token}`).to.equal(count);
        });
      }
    }
  });

  it("appears without any action when a poll finds that the login has expired", async () => {
    const page = await openWithClock("/sessions");
    await enterToken(page, TOKEN);
    await page.getByText("No events are waiting").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    await page.context().clearCookies();
    await page.clock.fastForward(5_000); // the polling interval

    await page.getByLabel("Token", { exact: true }).waitFor();
  });

  it("applies to all pages of a browser, and so does the logout", async () => {
    const page = await contexts.open(`${app.url}/jobs/behind-the-door`);
    const other = await page.context().newPage();
    await other.goto(app.url);
    await other.getByLabel("Token", { exact: true }).waitFor();
    await enterToken(page, TOKEN);
    await other.getByText("Behind the door").waitFor();

    await other.getByRole("button", { name: "Log out" }).click();

    await page.getByLabel("Token", { exact: true }).waitFor();
    await untilPasses(async () => expect(await page.getByText("Behind the door").count()).to.equal(0));
  });

  it("appears when a change finds that the login has expired", async () => {
    const page = await contexts.open(`${app.url}/jobs/behind-the-door`);
    await enterToken(page, TOKEN);
    await chooseAction(page, "Delete");
    await page.context().clearCookies();

    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();

    await page.getByLabel("Token", { exact: true }).waitFor();
    await page.getByText("You are not logged in").waitFor();
  });

  it("shows an error when the logout fails", async () => {
    const page = await contexts.open(app.url);
    await enterToken(page, TOKEN);
    await page.getByText("Behind the door").waitFor();
    await page.context().setOffline(true);

    await page.getByRole("button", { name: "Log out" }).click();

    await page.getByRole("status").getByText("The service cannot be reached").waitFor();
    await page.getByText("Behind the door").waitFor();
  });

  for (const to of [
    "//example.com/",
    "/\t/example.com/",
    "\\\\example.com",
    "https://example.com/",
    "javascript:alert(1)",
  ]) {
    it(`opens only pages of this service, so not ${JSON.stringify(to)}`, async () => {
      const page = await contexts.open(`${app.url}/login?to=${encodeURIComponent(to)}`);
      await enterToken(page, TOKEN);

      await page.getByText("Behind the door").waitFor();
      await waitForAddress(page, "href", `${app.url}/`);
    });
  }
});
