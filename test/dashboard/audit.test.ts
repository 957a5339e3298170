import { expect } from "chai";
import type { Page } from "playwright-core";
import { bearer } from "../support/app.ts";
import { enterToken } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { ADMIN, API, CI, config } from "./scopedTokens.ts";
import { useDashboard } from "./useDashboard.ts";

const linksOf = (page: Page) => page.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents();

describe("dashboard of a token with scopes", () => {
  const { app, contexts } = useDashboard({ config });
  beforeEach(async () => {
    for (const jobId of ["ci/build", "other/build"])
      await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, { name: jobId }, bearer(API));
  });

  it("names the token, and shows only its jobs, without actions and links that it does not allow", async () => {
    const page = await contexts.open(app.url);
    await enterToken(page, CI);

    await page.getByRole("link", { name: "ci/build" }).click();
    await page.getByRole("heading", { name: "ci/build" }).waitFor();

    await page.getByText("Read-only: ci-team").waitFor();
    await untilPasses(async () =>
      expect(await page.getByTitle("Only jobs whose ids begin with ci/ are shown", { exact: false }).count()).to.equal(
        1,
      ),
    );
    await untilPasses(async () => expect(await linksOf(page)).to.deep.equal(["Jobs", "Questions"]));
    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: /Delete|Cancel/ }).count()).to.equal(0),
    );
    await page.goto(`${app.url}/jobs/${encodeURIComponent("other/build")}`);
    await page.getByText("Job not found").waitFor();
    await page.goto(app.url);
    await page.getByRole("link", { name: "ci/build" }).waitFor();
    await untilPasses(async () => expect(await page.getByRole("link", { name: "other/build" }).count()).to.equal(0));
  });
});

describe("dashboard audit log", () => {
  const { app, contexts } = useDashboard({ config });

  it("shows who did what, from where and when in UTC, and filters by caller and action", async () => {
    for (const [jobId, token] of [
      ["by-ci", API],
      ["by-operator", ADMIN],
    ] as const) {
      await app.call("PUT", `/api/jobs/${jobId}`, {}, bearer(API));
      await app.call("DELETE", `/api/jobs/${jobId}`, undefined, bearer(token));
    }
    const page = await contexts.open(app.url);
    await enterToken(page, ADMIN);
    await page.getByRole("link", { name: "Audit", exact: true }).click();
    const table = page.getByRole("table", { name: "Audit log, newest first" });
    const targets = async () => (await table.locator(".cell-message bdi").allTextContents()).sort();

    await table.getByText("by-ci").waitFor();
    const row = table.getByRole("row").filter({ hasText: "by-operator" });
    await untilPasses(async () => expect(await row.getByRole("cell").nth(0).textContent()).to.equal("operator"));
    await untilPasses(async () => expect(await row.getByRole("cell").nth(1).textContent()).to.include("Deleted a job"));
    await untilPasses(async () => expect(await row.getByRole("cell").nth(2).textContent()).to.match(/127\.0\.0\.1/));
    const { body } = await app.call("GET", "/api/audit?target=by-operator", undefined, bearer(API));
    const at: string = body.entries[0].at;
    await untilPasses(async () =>
      expect(await row.getByRole("cell").nth(3).textContent()).to.equal(at.slice(0, 19).replace("T", " ")),
    );

    await table.getByRole("link", { name: "operator", exact: true }).click();
    await eventually(async () => String(await targets()) === "by-operator", "the entries of the operator alone");
    await page.getByTitle("Remove this filter").click();
    await page.getByLabel("Action").selectOption("login");
    await eventually(async () => (await targets()).length === 0, "the log-in alone");
    await table.getByText("cookie:operator").waitFor();
    await page.getByLabel("Who").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No entries match").waitFor();
  });
});
