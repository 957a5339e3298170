import { BrowserContexts } from "../support/browser.ts";
import { createJob, report } from "../support/factories.ts";
import { manySteps } from "./manySteps.ts";
import { openShowcase, type Showcase } from "./showcase.ts";

const DIR = process.env.SHOTS ?? "/tmp/shots";
const only = process.env.ONLY;
describe("shots", function () {
  this.timeout(300_000);
  const contexts = new BrowserContexts();
  let showcase: Showcase;
  before(async () => {
    showcase = await openShowcase();
  });
  after(async () => {
    try {
      await contexts.closeAll();
    } catch (e) {
      console.log(String(e));
    }
    await showcase.close();
  });
  it("all", async () => {
    const { app } = showcase;
    const mk = async (name: string, fail: boolean) => {
      const job = await createJob(app, { name, metadata: { team: "data", region: "eu", ticket: "OPS-4711" } });
      await manySteps(app, job, 3000, (at) =>
        fail && at % 1000 === 777
          ? {
              status: "failed",
              message: `psycopg.OperationalError: could not connect to server: Connection refused (shard ${at})`,
              progress: 40,
            }
          : { stepName: `Partition ${at}`, message: `${at * 3} rows` },
      );
      await app.call(
        "PUT",
        job.path,
        fail
          ? { status: "failed", message: "3 of 3,000 partitions failed: could not connect to server" }
          : { status: "completed", output: { docs: 2999 } },
      );
      return job;
    };
    const bad = await mk("Rebuild the search index", true);
    const good = await mk("Rebuild the search index", false);
    app.clock.advance(-600_000);
    const g = await createJob(app, {
      name: "Publish the autumn prices",
      metadata: { team: "sales" },
      input: { catalogue: "autumn", rows: Array.from({ length: 60 }, (_, n) => ({ sku: `A-${n}`, price: n * 1.5 })) },
    });
    await report(app, g.path, "extract", { stepName: "Extract", status: "completed", message: "1,240 rows" });
    app.clock.advance(60_000);
    await report(app, g.path, "validate", {
      stepName: "Validate",
      message: "Validating 1,240 rows against the schema of the shop",
    });
    await app.call("PUT", `${g.path}/gates/publish`, {
      title: "Publish 240 prices?",
      message: "240 prices differ by more than **10 %**.",
    });
    app.clock.advance(200_000);
    await app.call("POST", `${g.path}/gates/publish/answer`, { action: "accept", answeredBy: "Ann" });
    app.clock.advance(100_000);
    await report(app, g.path, "upload", {
      stepName: "Upload to the shop",
      progress: 35,
      message: "84 of 240 prices uploaded",
    });
    app.clock.advance(240_000);
    await app.call("PUT", `${g.path}/gates/mail`, {
      title: "Send the newsletter too?",
      message: "It goes to 12,000 people.",
    });
    const log = Array.from(
      { length: 40 },
      (_, n) => `2026-11-27 10:00:${String(n).padStart(2, "0")} uploading batch ${n}`,
    ).join("\n");
    await app.call("POST", `${g.path}/steps/upload/log`, log, { "Content-Type": "text/plain" });
    const pages: [string, string][] = [
      ["research", "/jobs/research-battery-recycling"],
      ["research-step", "/jobs/research-battery-recycling?step=collect"],
      ["stale", "/jobs/backup-eu-3"],
      ["invoices", "/jobs/invoices%2F2026-10"],
      ["bad", `/jobs/${bad.jobId}`],
      ["good", `/jobs/${good.jobId}`],
      ["gate", `/jobs/${g.jobId}`],
      ["gate-step", `/jobs/${g.jobId}?step=upload`],
      ["nosteps", "/jobs/c0a1f2de-5b7c-4d2e-9b7e-2f1b7a4f8a61"],
    ];
    for (const [name, path] of pages) {
      if (only && !only.split(",").includes(name)) continue;
      for (const [kind, options] of [
        ["", { viewport: { width: 1280, height: 800 } }],
        ["-dark", { viewport: { width: 1280, height: 800 }, colorScheme: "dark" }],
        ["-phone", { viewport: { width: 390, height: 780 }, hasTouch: true }],
      ] as const) {
        const page = await contexts.openLive(app.url + path, options);
        await page.waitForTimeout(700);
        await page.screenshot({ path: `${DIR}/${name}${kind}.png` });
        if (kind === "" || kind === "-phone")
          await page.screenshot({
            path: `${DIR}/${name}${kind}-full.png`,
            fullPage: !path.includes(bad.jobId) && !path.includes(good.jobId),
          });
        await page.context().close();
      }
    }
  });
});
