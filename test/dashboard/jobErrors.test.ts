import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard list of failed jobs", () => {
  const { app, openLive } = useDashboard();
  const fail = (jobId: string, message: string) => app.call("PUT", `/api/jobs/${jobId}`, { status: "failed", message });

  it("has the errors above it with their number, and a link that finds the jobs of each", async () => {
    await fail("a", "psycopg2 cannot connect to 10.0.0.7");
    await fail("b", "psycopg2 cannot connect to 10.0.0.9");
    await fail("c", "OOMKilled");
    const page = await openLive("/?status=failed");
    const errors = page.getByRole("region", { name: "Errors of the last day" });
    await errors.getByRole("heading", { name: "2 errors in the last day" }).waitFor();
    const first = errors.getByRole("listitem").first();
    await untilPasses(async () => expect(await first.textContent()).to.match(/^2psycopgN cannot connect to N/));

    await first.getByRole("link").click();

    const rows = page.getByRole("table").getByRole("link", { name: /^[abc]$/ });
    await untilPasses(async () => expect(await rows.allTextContents()).to.have.members(["a", "b"]));
  });
});
