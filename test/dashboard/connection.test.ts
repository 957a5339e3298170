import type { Page } from "playwright-core";
import { createJob } from "../support/factories.ts";
import { waitForNames } from "./jobNames.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard connection", () => {
  const { app, contexts, openLive } = useDashboard();

  it("shows that it is offline, and catches up after reconnecting", async () => {
    const { path } = await createJob(app, { name: "Was there" });
    const page = await openLive();
    await waitForNames(page, ["Was there"]);

    await page.context().setOffline(true);
    await page.getByRole("alert").getByText("cannot be reached").waitFor();
    await app.call("DELETE", path);
    await createJob(app, { name: "Came meanwhile" });
    await page.context().setOffline(false);

    await waitForNames(page, ["Came meanwhile"]);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
  });

  /** Answers 503 to the requests that match the pattern. Returns a function that ends this. */
  const respondUnavailable = async (page: Page, pattern: RegExp) => {
    const body = JSON.stringify({ status: 503, code: "unavailable", detail: "MongoDB is away." });
    await page.route(pattern, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body }));
    return () => page.unroute(pattern);
  };

  it("retries a list that failed to load", async () => {
    await createJob(app, { name: "There all the time" });
    const page = await contexts.open("about:blank");
    await page.clock.install();
    const ready = await respondUnavailable(page, /\/api\/jobs\?/);
    await page.goto(app.url);
    await page.getByRole("alert").getByText("MongoDB is away").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    await ready();
    await page.clock.fastForward(6_000);

    await waitForNames(page, ["There all the time"]);
    await page.getByRole("alert").waitFor({ state: "detached" });
  });
});
