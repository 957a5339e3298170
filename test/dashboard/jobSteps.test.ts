import { expect } from "chai";
import { expectAccessible } from "../support/axe.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { manySteps } from "./manySteps.ts";
import { useDashboard } from "./useDashboard.ts";

/** Bytes of everything that the page of a job with many steps loads before it shows the first of them. */
const MAX_FIRST_BYTES = 100_000;

describe("the steps on the page of a job", () => {
  const { app, contexts, openLive } = useDashboard();

  async function jobOf(length: number, failed: readonly number[]) {
    const job = await createJob(app, { name: "Index", metadata: { team: "data" } });
    await manySteps(app, job, length, (at) =>
      failed.includes(at) ? { status: "failed", message: `No connection to shard ${at}` } : {},
    );
    await app.call("PUT", job.path, { status: failed.length > 0 ? "failed" : "completed" });
    return job;
  }

  it("differ at the first glance for a failure and a success of 3,000", async () => {
    const good = await jobOf(3_000, []);
    const bad = await jobOf(3_000, [777, 1_777]);
    const rows = async ({ jobId }: { jobId: string }) => {
      const page = await openLive(`/jobs/${jobId}`);
      await page.getByText(/^Step 0 … \d/).waitFor();
      const texts = await page.locator(".table-steps .table-body .row").allTextContents();
      const marks = await page.locator(".mark").evaluateAll((all) => all.map(({ className }) => className));
      await expectAccessible(page);
      return { texts, marks: marks.sort() };
    };

    expect(await rows(good)).to.deep.equal({
      texts: ["Step 0 … 29993,000 completed50 min"],
      marks: ["mark mark-completed"],
    });
    expect(await rows(bad)).to.deep.equal({
      texts: [
        "FailedStep 777No connection to shard 7776.0 s",
        "FailedStep 1777No connection to shard 17776.0 s",
        "Step 0 … 29992,998 completed50 min",
      ],
      marks: ["mark mark-completed", "mark mark-failed", "mark mark-failed"],
    });
  });

  it("unfold the completed ones with the keyboard, keep most of them out of the document, and are found by a search", async () => {
    const { jobId } = await jobOf(3_000, [5]);
    const page = await openLive(`/jobs/${jobId}`);
    const fold = page.getByRole("button", { name: "Step 0 … 2999" });
    await fold.waitFor();

    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await untilPasses(async () => expect(await page.evaluate("document.activeElement.className")).to.equal("fold"));
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Step 12", exact: true }).waitFor();
    await untilPasses(async () => expect(await page.locator(".table-steps .row").count()).to.be.lessThan(80));
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Step 12", exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("Search steps").fill("step 2998");

    await page.getByRole("link", { name: "Step 2998" }).click();
    await page.getByRole("region", { name: "Step 2998" }).getByText("key-2998").waitFor();
    await page.getByText("1 of 3,000 steps").waitFor();
  });

  it("need at most 100 kB for the first of 10,000, and come whole afterwards", async () => {
    const { jobId } = await jobOf(10_000, [9_000]);
    const page = await contexts.open("about:blank");
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    let bytes = 0;
    session.on("Network.dataReceived", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const held = Promise.withResolvers<void>();
    await page.route(/steps\?.*cursor=/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${app.url}/jobs/${jobId}`);
    await page.getByText("No connection to shard 9000").waitFor();
    await page.getByText("Step 0 …", { exact: true }).waitFor();
    await page.getByText("9,999 completed").waitFor();

    expect(bytes).to.be.within(10_000, MAX_FIRST_BYTES);
    held.resolve();
    await page.getByText("Step 0 … 9999").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("show a question that was answered, and who answered it, after the page is read anew", async () => {
    const { jobId, path } = await createJob(app, { name: "Publish" });
    await report(app, path, "a", { stepName: "Validate" });
    await app.call("PUT", `${path}/gates/go`, { title: "Publish 240 prices?" });
    await app.call("POST", `${path}/gates/go/answer`, { action: "accept", answeredBy: "Ann" });
    const page = await openLive(`/jobs/${jobId}`);

    await page.getByRole("article", { name: "Publish 240 prices?" }).getByText("Accepted by Ann.").waitFor();
    await untilPasses(async () => expect(await page.locator(".mark-gate").allTextContents()).to.deep.equal(["Ann"]));
    await untilPasses(async () => expect(await page.getByRole("button", { name: "Accept" }).count()).to.equal(0));
    await expectAccessible(page);
  });
});
