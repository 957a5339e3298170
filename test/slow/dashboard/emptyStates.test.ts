import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { expectNoSidewaysScrolling } from "../../support/axe.ts";
import { enterToken } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";

const TOKENS = { SIGNALBOX_API_TOKEN: "an-api-token-of-length", SIGNALBOX_HOOKS_TOKEN: "a-hook-token-of-length" };

const commandOf = (page: Page) => page.getByRole("region", { name: "Command" });

/** Runs a curl command in a shell and returns the status of the response. */
async function statusOf(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command} -s -o /dev/null -w '%{http_code}'`], {
    env: { ...process.env, ...TOKENS },
  });
  return stdout;
}

describe("dashboard empty states", () => {
  const { app, contexts } = useDashboard({
    apiToken: TOKENS.SIGNALBOX_API_TOKEN,
    config: `{ hooks: { enabled: true, token: "${TOKENS.SIGNALBOX_HOOKS_TOKEN}" } }`,
  });

  const logIn = async (options = {}): Promise<Page> => {
    const page = await contexts.open(app.url, options);
    await enterToken(page, TOKENS.SIGNALBOX_API_TOKEN);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  };

  const PAGES = [
    ["/sessions", "No sessions yet", "202", "tutorials/first-agent-hook"],
    ["/deliveries", "No deliveries yet", "202", "how-to/set-up-a-channel"],
  ] as const;

  it("show a command that works as it is copied, and link to the guide", async () => {
    const page = await logIn({ permissions: ["clipboard-read", "clipboard-write"] });
    for (const [path, title, status, guide] of PAGES) {
      await page.goto(app.url + path);
      await page.getByRole("heading", { name: title }).waitFor();

      await page.getByRole("button", { name: "Copy the command" }).click();
      await page.getByText("Command copied").waitFor();
      const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
      const command = (await commandOf(page).textContent()) as string;
      await untilPasses(async () => expect(await copied()).to.equal(command));

      expect([path, await statusOf(command)]).to.deep.equal([path, status]);
      const link = page.getByRole("link", { name: /^Guide: / });
      await untilPasses(async () => expect(await link.getAttribute("href")).to.equal(`/guide/${guide}`));
    }
  });

  it("fit a phone", async () => {
    const page = await logIn({ viewport: { width: 390, height: 780 } });
    for (const [path, title] of PAGES) {
      await page.goto(app.url + path);
      await page.getByRole("heading", { name: title }).waitFor();

      await expectNoSidewaysScrolling(page, path);
      await untilPasses(async () => expect((await commandOf(page).boundingBox())?.width).to.be.at.most(390));
    }
  });

  it("of pages without a command link to the guide", async () => {
    const page = await logIn();
    for (const [path, title, guide] of [
      ["/gates", "No open questions", "how-to/ask-a-person"],
      ["/audit", "No entries yet", "how-to/secure"],
    ] as const) {
      // The log-in of this test is an entry.
      await page.route("**/api/audit?*", (route) => route.fulfill({ json: { entries: [], nextCursor: null } }));
      await page.goto(app.url + path);
      await page.getByRole("heading", { name: title }).waitFor();

      const link = page.getByRole("link", { name: /^Guide: / });
      await untilPasses(async () => expect(await link.getAttribute("href")).to.equal(`/guide/${guide}`));
    }
  });

  it("show how to report the first step of a job, whatever its id", async () => {
    const jobId = 'it\'s "$(id)" `id` !! & more/7';
    const bearer = { Authorization: `Bearer ${TOKENS.SIGNALBOX_API_TOKEN}` };
    await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, {}, bearer);
    const page = await logIn();
    await page.getByRole("link", { name: jobId }).click();

    const command = (await commandOf(page).textContent()) as string;

    expect(await statusOf(command)).to.equal("201");
    await page.getByRole("row").filter({ hasText: "First step" }).waitFor();
  });
});
