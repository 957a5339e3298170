import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";
import { HOOKS_ONLY, useOnboarding } from "./useOnboarding.ts";

describe("dashboard onboarding", () => {
  const { logIn } = useOnboarding();

  it("sends a test hook by keyboard, and leads to its run", async () => {
    const page = await logIn(HOOKS_ONLY);
    await page.getByRole("button", { name: "Send a test hook" }).focus();
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { level: 1, name: "Test hook" }).waitFor();
    await page.getByText("This is a test of the agent hook").first().waitFor();
    await page.getByText("Completed").first().waitFor();
  });
});

describe("dashboard onboarding without hooks and tokens", () => {
  const { app, openLive, openWithClock } = useDashboard({ basePath: "/box" });

  it("needs no token, contains the base path, and says that hooks are off", async () => {
    const page = await openLive();
    await page.getByRole("heading", { name: "No jobs yet" }).waitFor();

    await untilPasses(async () => {
      const commands = await page.getByRole("listitem").allTextContents();
      expect(commands.join("\n")).to.include(`export SIGNALBOX_URL="${app.url}"`).and.not.include("Authorization");
    });
    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: "Send a test hook" }).count()).to.equal(0),
    );
    await page.goto(`${app.url}/runs`);
    await page.getByText("Hooks are off").waitFor();
    expect((await app.call("POST", "/api/hooks/test")).status).to.equal(404);
  });

  it("creates a sample job, opens it, and reports its steps until it is completed", async () => {
    const page = await openWithClock();
    await page.getByRole("button", { name: "Create a sample job" }).click();
    await page.getByRole("heading", { level: 1, name: "Sample job" }).waitFor();
    await page.getByRole("row").filter({ hasText: "Fetch the feed" }).waitFor();

    await untilPasses(async () => {
      await page.clock.fastForward(2_000);
      const { jobs } = (await app.call("GET", "/api/jobs")).body;
      expect(jobs[0]).to.include({ name: "Sample job", status: "completed", progress: 100 });
    });
  });
});
