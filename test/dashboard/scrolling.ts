import type { Page } from "playwright-core";
import { BrowserContexts } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";
import { useApp } from "../support/useApp.ts";
import { manyJobs } from "./manyJobs.ts";
import { manySteps } from "./manySteps.ts";

const ROWS = 10_000;
/** Pixels of a turn of the wheel, as on a fast swipe. */
const WHEEL_PX = 1_500;
const TURNS = 200;

/** Not a test: `npm run bench:dashboard` prints how fluently the page scrolls through very long lists. */
describe("the page scrolls through 10,000 rows", function () {
  this.timeout(600_000);
  const contexts = new BrowserContexts();
  afterEach(() => contexts.closeAll());
  const app = useApp();

  it("of jobs", async () => {
    await manyJobs(app, ROWS);
    const page = await contexts.openLive(app.url);
    await page.getByText(`Job ${ROWS}`, { exact: true }).waitFor();
    for (let isWhole = false; !isWhole; ) {
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      isWhole = await page.getByText("Job 1", { exact: true }).isVisible();
    }
    print("jobs", await measure(page));
  });

  it("of steps", async () => {
    const job = await createJob(app, { name: "Many steps" });
    await manySteps(app, job, ROWS);
    const page = await contexts.openLive(`${app.url}/jobs/${job.jobId}`);
    await page.getByRole("button", { name: `Step 0 … ${ROWS - 1}` }).click();
    await page.getByRole("link", { name: "Step 9", exact: true }).waitFor();
    print("steps", await measure(page));
  });
});

interface Figures {
  /** The times between frames while the page scrolls, in milliseconds. */
  readonly frames: number[];
  /** The durations of tasks that block the page for 50 ms or more. */
  readonly longTasks: number[];
  readonly heapMb: number;
  readonly nodes: number;
}

async function measure(page: Page): Promise<Figures> {
  const { frames, longTasks } = await page.evaluate<Pick<Figures, "frames" | "longTasks">>(`(async () => {
    const nextFrame = () => new Promise(requestAnimationFrame);
    scrollTo(0, 0);
    for (let n = 0; n < 10; n++) await nextFrame();
    const [frames, longTasks] = [[], []];
    const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)));
    observer.observe({ type: "longtask" });
    let last = performance.now();
    for (let turn = 0; turn < ${TURNS}; turn++) {
      scrollBy({ top: turn < ${TURNS / 2} ? ${WHEEL_PX} : ${-WHEEL_PX}, behavior: "instant" });
      await nextFrame();
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
    await new Promise((end) => setTimeout(end, 200));
    observer.disconnect();
    return { frames, longTasks };
  })()`);
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const metric = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
  return { frames, longTasks, heapMb: metric("JSHeapUsedSize") / 1_000_000, nodes };
}

function print(list: string, { frames, longTasks, heapMb, nodes }: Figures): void {
  const sorted = frames.toSorted((a, b) => a - b);
  const quantile = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  console.log(
    `${list}: frames p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms, longest ${quantile(1)} ms; ` +
      `${longTasks.length} long tasks, ${Math.round(longTasks.reduce((sum, one) => sum + one, 0))} ms; ` +
      `heap ${heapMb.toFixed(1)} MB; ${nodes} elements`,
  );
}
