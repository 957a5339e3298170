import { startApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";
import { manySteps } from "./manySteps.ts";

describe("slow phone", function () {
  this.timeout(300_000);
  it("measures", async () => {
    const app = await startApp();
    const contexts = new BrowserContexts();
    const ids: [string, string, string][] = [];
    for (const n of [10, 3000, 10000]) {
      const job = await createJob(app, { name: `Job of ${n}` });
      await manySteps(app, job, n, (at) => (at === n - 3 ? { status: "failed", message: "No connection" } : {}));
      await app.call("PUT", job.path, { status: "failed", message: "It failed" });
      ids.push([`job of ${n}`, `/jobs/${job.jobId}`, `Step ${n - 3}`]);
    }
    ids.push(["list", "/", "Job of 3000"]);
    for (const [what, path, words] of ids)
      for (const kind of ["cold", "warm"]) {
        const page = await contexts.open("about:blank", { viewport: { width: 390, height: 780 }, hasTouch: true });
        if (kind === "warm") {
          await page.goto(app.url + "/sessions");
          await page
            .getByText("Live")
            .first()
            .waitFor()
            .catch(() => {});
        }
        const session = await page.context().newCDPSession(page);
        await session.send("Network.enable");
        await session.send("Network.emulateNetworkConditions", {
          offline: false,
          latency: 400,
          downloadThroughput: 50_000,
          uploadThroughput: 50_000,
        });
        await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
        let bytes = 0,
          requests = 0;
        session.on("Network.loadingFinished", ({ encodedDataLength }) => {
          bytes += encodedDataLength;
          requests++;
        });
        const start = Date.now();
        await page.goto(app.url + path, { waitUntil: "commit" });
        const marks: Record<string, number> = {};
        await Promise.all([
          page
            .locator("h1")
            .first()
            .waitFor()
            .then(() => {
              marks.h1 = Date.now() - start;
            }),
          page
            .getByText(words, { exact: true })
            .first()
            .waitFor()
            .then(() => {
              marks.row = Date.now() - start;
              marks.bytes = bytes;
              marks.requests = requests;
            }),
        ]);
        console.log(what, kind, JSON.stringify(marks));
        await page.context().close();
      }
    await contexts.closeAll().catch(String);
    await app.close();
  });
});
