import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { enterToken, waitForAddress } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { chooseAction } from "./jobMenu.ts";
import { useDashboard } from "./useDashboard.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";

describe("dashboard login", () => {
  const config = "{ channels: { log: {} } }";
  const { app, contexts } = useDashboard({ apiToken: TOKEN, readOnlyToken: READ_ONLY, config });
  beforeEach(async () => {
    const auth = { Authorization: `Bearer ${TOKEN}` };
    await app.call("PUT", "/api/jobs/behind-the-door", { name: "Behind the door" }, auth);
  });

  it("asks for the token, rejects a wrong one, and opens the requested page", async () => {
    const page = await contexts.open(`${app.url}/jobs/behind-the-door`);
    await untilPasses(async () => expect((await page.getByRole("banner").boundingBox())?.height).to.equal(53)); // Without the row of the links.
    await page.getByLabel("Token", { exact: true }).fill("another-token-of-length");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("not the token").waitFor();
    await untilPasses(async () => expect(await page.getByText("Behind the door").count()).to.equal(0));

    await enterToken(page, TOKEN);

    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    await waitForAddress(page, "pathname", "/jobs/behind-the-door");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).to.deep.equal([[true, "Strict"]]);
  });

  it("allows changes with the API token, and ends with the logout", async () => {
    const page = await contexts.open(app.url);
    await enterToken(page, TOKEN);
    await page.getByRole("link", { name: "Behind the door" }).click();
    await chooseAction(page, "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No jobs yet").waitFor();

    await page.getByRole("button", { name: "Log out" }).click();

    await page.getByLabel("Token", { exact: true }).waitFor();
    // The end of the log-in may reach the page through its live events, before the response that removes the cookie.
    await eventually(async () => (await page.context().cookies()).length === 0, "the cookie to be removed");
  });

  it("shows a job without actions to a read-only token", async () => {
    const page = await contexts.open(`${app.url}/jobs/behind-the-door`);
    await enterToken(page, READ_ONLY);

    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    await page.getByText("Read-only").waitFor();
    await untilPasses(async () => expect(await page.locator("button.danger").count()).to.equal(0));
    await untilPasses(async () => expect(await page.getByText("Copy JSON").count()).to.equal(1));
  });

  it("appears when the login has expired, and then opens the requested page", async () => {
    const page = await contexts.open(`${app.url}/runs`);
    await enterToken(page, TOKEN);
    await page.getByText("No runs yet").waitFor();

    await page.context().clearCookies();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await enterToken(page, TOKEN);

    await page.getByText("No deliveries yet").waitFor();
  });

  it("is skipped if no token is configured", async () => {
    const open = await startApp();
    try {
      await createJob(open, { name: "Open to all" });
      const page = await contexts.open(`${open.url}/login`);

      await page.getByText("Open to all").waitFor();
      await untilPasses(async () => expect(await page.getByRole("button", { name: "Log out" }).count()).to.equal(0));
    } finally {
      await contexts.closeAll();
      await open.close();
    }
  });
});
