import { BrowserContexts } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";
import { useApp } from "../support/useApp.ts";
import { manySteps } from "./manySteps.ts";

const STEPS = 10_000;
const VISITS = 3;
/** A slow phone: 400 ms for each request, 50 kB a second, and a processor four times as slow. */
const NETWORK = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOWER = 4;

/** Sets `firstRow` to a promise of the time when the first row of a list is on the screen. */
const WATCH = `window.firstRow = new Promise((resolve) => {
  const look = () => {
    if (document.querySelector(".row .cell-name")?.offsetHeight) resolve(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Not a test: `npm run bench:dashboard` prints when a slow phone that has visited nothing shows its first row. */
describe("the first visit on a slow phone", function () {
  this.timeout(120_000);
  const contexts = new BrowserContexts();
  afterEach(() => contexts.closeAll());
  const app = useApp();

  it("of a job with 10,000 steps", async () => {
    const job = await createJob(app, { name: "Many steps", metadata: { team: "sales" } });
    await manySteps(app, job, STEPS, (at) => (at % 100 === 7 ? { status: "failed", message: `No row ${at}` } : {}));
    for (let visit = 0; visit < VISITS; visit++) await visitSlowly(`${app.url}/jobs/${job.jobId}`);
  });

  async function visitSlowly(url: string): Promise<void> {
    const page = await contexts.open("about:blank", { viewport: { width: 390, height: 844 } });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", NETWORK);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await page.addInitScript(WATCH);
    await page.goto(url, { waitUntil: "commit" });
    const row = await page.evaluate<number>("firstRow");
    const kb = await page.evaluate<number>(
      `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({ responseEnd }) => responseEnd)
        .reduce((sum, { transferSize }) => sum + transferSize, 0) / 1_000`,
    );
    console.log(`first row after ${row.toFixed(0)} ms, with ${kb.toFixed(0)} kB`);
    await contexts.closeAll();
  }
});
