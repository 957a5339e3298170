import { expect } from "chai";
import type { Page } from "playwright-core";
import { untilPasses } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { waitForNames } from "./jobNames.ts";
import { useDashboard } from "./useDashboard.ts";

describe("the selection in the dashboard's list of jobs", () => {
  const { app, openLive } = useDashboard();

  const bar = (page: Page) => page.getByRole("region", { name: "Selected jobs" });

  it("by checkbox and by x is cancelled and deleted after a question; failures are reported and stay selected", async () => {
    const made = [];
    for (const name of ["One", "Two", "Three", "Four"]) made.push(await createJob(app, { name }));
    const [one, two, three] = made;
    await app.call("PUT", two?.path as string, { status: "completed" });
    const page = await openLive();
    await waitForNames(page, ["Four", "Three", "Two", "One"]);

    await page.getByLabel("Select One").check();
    await page.getByLabel("Select Two").check();
    await bar(page).getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog", { name: "Cancel 2 jobs?" }).getByRole("button", { name: "Cancel jobs" }).click();
    await page.getByText("Cancellation requested for 1 job; 1 job had ended").waitFor();
    await bar(page).waitFor({ state: "detached" });
    expect((await app.call("GET", one?.path as string)).body.cancel).to.have.property("requestedAt");

    await page.getByRole("link", { name: "Four" }).focus();
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await bar(page).getByText("2 selected").waitFor();
    await page.route("**/api/jobs/*", (route) =>
      route.request().method() === "DELETE" &&
      route
        .request()
        .url()
        .endsWith(three?.jobId as string)
        ? route.fulfill({
            status: 403,
            contentType: "application/problem+json",
            body: '{"code":"forbidden","detail":"Not this one."}',
          })
        : route.continue(),
    );
    await bar(page).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete 2 jobs?" }).getByRole("button", { name: "Delete jobs" }).click();

    await page.getByText(/Delete failed for 1 job, which stay selected.*Not this one/).waitFor();
    await waitForNames(page, ["Three", "Two", "One"]);
    await bar(page).getByText("1 selected").waitFor();
    await untilPasses(async () => expect(await page.getByLabel("Select Three").isChecked()).to.equal(true));
    await bar(page).getByRole("button", { name: "Clear selection" }).click();
    await bar(page).waitFor({ state: "detached" });
  });
});
