import { ADMIN, API, CI, config } from "../../dashboard/scopedTokens.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { bearer } from "../../support/app.ts";
import { enterToken } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

describe("dashboard of a token with scopes", () => {
  const { app, contexts } = useDashboard({ config });
  beforeEach(async () => {
    for (const jobId of ["ci/build", "other/build"])
      await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, { name: jobId }, bearer(API));
  });

  it("refuses the audit log without the scope admin", async () => {
    const page = await contexts.open(`${app.url}/audit`);
    await enterToken(page, CI);

    await page.getByText("needs a token with the scope").waitFor();
  });
});

describe("dashboard audit log", () => {
  const { app, contexts } = useDashboard({ config });

  it("loads further pages as it is scrolled", async () => {
    const { audit } = app.stores;
    const caller = { actor: "ci", address: "127.0.0.1", requestId: "r", serviceRequestId: "s" };
    for (let i = 0; i < 150; i++) await audit.add(caller, "job.delete", `job-${i}`);
    const page = await contexts.open(`${app.url}/audit`);
    await enterToken(page, ADMIN);
    await page.getByText("job-149").waitFor();

    await eventually(async () => {
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      return (await page.getByText("job-0", { exact: true }).count()) > 0;
    }, "the last entry");
  });
});
