import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard details of a job", () => {
  const { app, contexts, openLive } = useDashboard();

  it("shows a failure with its step, searches the steps, and marks what was left open", async () => {
    const { jobId, path } = await createJob(app, { name: "Import" });
    for (let at = 1; at <= 11; at++) await report(app, path, `s${at}`, { stepName: `Part ${at}`, status: "completed" });
    await report(app, path, "open", { stepName: "Watcher" });
    await report(app, path, "bad", { stepName: "Load", ...whole(30) });
    const page = await openLive(`/jobs/${jobId}`);
    await page.getByText("Running").first().waitFor();
    await untilPasses(async () => expect(await page.title()).to.equal("Running · Import · Signalbox"));
    const iconOf = () => page.locator("link[rel=icon]").getAttribute("href");
    const running = await iconOf();

    await report(app, path, "bad", {
      stepName: "Load",
      status: "failed",
      failJob: true,
      message: "Error: no such file\n  at load (a.js:7)",
    });
    const failure = page.getByRole("region", { name: "Failure" });
    await failure.getByText("at load (a.js:7)").waitFor();

    await untilPasses(async () => expect(await page.title()).to.equal("Failed · Import · Signalbox"));
    await untilPasses(async () =>
      expect(await iconOf())
        .to.match(/^data:image\/svg/)
        .and.not.equal(running),
    );
    const font = () => failure.locator(".raw-text").evaluate((element) => getComputedStyle(element).fontFamily);
    await untilPasses(async () => expect(await font()).to.include("mono"));
    const watcher = page.getByRole("row").filter({ hasText: "Watcher" });
    await watcher.getByText("Left open").waitFor();
    await untilPasses(async () => expect(await page.locator(".icon-running").count()).to.equal(0));
    await page.getByLabel("Search steps").fill("part 1");
    await page.getByText("3 of 13 steps", { exact: true }).waitFor();
    await page.getByLabel("Search steps").fill("");
    await page.getByRole("row").nth(1).getByText("Error: no such file").waitFor();
    await failure.getByRole("link", { name: "Load" }).click();
    const panel = page.getByRole("region", { name: "Load" });
    await panel.getByRole("region", { name: "Failure" }).getByText("no such file").waitFor();
    await panel.getByRole("listitem").filter({ hasText: "Attempt 1" }).getByText("no such file").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Jobs" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Jobs" }).or(page.getByText("Import")).first().waitFor();
    await untilPasses(async () => expect(await iconOf()).to.match(/^\/assets\/icon/));
  });

  it("shows the size of JSON as it was sent, and the beginning of a long one with Show all", async () => {
    const output = { rows: Array.from({ length: 40 }, (_, n) => n) };
    const { jobId, path } = await createJob(app, { input: { x: 1 } });
    await report(app, path, "a", { ...whole(100), status: "completed", output });
    const page = await openLive(`/jobs/${jobId}`);
    const block = page.getByRole("region", { name: "Output", exact: true });
    const heightOf = async () => (await block.getByRole("region", { name: "Output, content" }).boundingBox())?.height;

    await block.getByText(`${JSON.stringify(output).length} B`, { exact: true }).waitFor();
    await page.getByRole("region", { name: "Input", exact: true }).getByText("7 B", { exact: true }).waitFor();
    await untilPasses(async () => expect(await heightOf()).to.be.within(380, 480));
    await block.getByRole("button", { name: "Show all" }).click();

    await untilPasses(async () => expect(await heightOf()).to.be.greaterThan(900));
    await untilPasses(async () =>
      expect(
        await page
          .getByRole("region", { name: "Input", exact: true })
          .getByRole("button", { name: "Show all" })
          .count(),
      ).to.equal(0),
    );
  });

  it("renders Markdown and links with a switch, and violates no policy with hostile texts", async () => {
    const description =
      "**Bold** [good](https://example.com/x) [bad](javascript:alert(1))\n\n|a|\n|:-|\n|<img src=x onerror=alert(1)>|";
    const { jobId, path } = await createJob(app, { name: "invoice\u202Efdp.exe", description });
    await report(app, path, "a", { ...whole(20), message: "\n \n\nSee https://example.com/run/7." });
    const page = await contexts.open("about:blank");
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(`${app.url}/jobs/${jobId}`);

    const link = page.locator(".said").getByRole("link", { name: "https://example.com/run/7" });
    await link.waitFor();
    const text = page.locator(".description");
    await text.getByRole("link", { name: "good" }).waitFor();

    await untilPasses(async () => expect(await link.getAttribute("rel")).to.equal("noopener nofollow"));
    await untilPasses(async () => expect(await text.getByRole("link").count()).to.equal(1));
    await untilPasses(async () => expect(await text.locator("img").count()).to.equal(0));
    await untilPasses(async () => expect(await text.locator("strong").textContent()).to.equal("Bold"));
    await page.getByRole("heading", { level: 1, name: "invoice▯fdp.exe" }).waitFor();
    await text.getByRole("button", { name: "Raw" }).click();
    await text.getByText("**Bold**").waitFor();
    await text.getByRole("button", { name: "Rendered" }).click();
    await text.locator("strong").waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
