/**
 * A worker in a process of its own, for tests of cancellation: `node cancellableWorker.ts URL JOB_ID MODE`. Prints
 * `working` when its step has begun, and `stopped` with the reason when the work has been aborted.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createClient, type StepReporter } from "../../../src/client/client.ts";

const [url = "", jobId = "", mode] = process.argv.slice(2);
const client = createClient({ url });
const step = client.job(jobId).step("work", { name: "Work", from: 0, to: 100 });

/** Reports until the signal is aborted. */
async function report(reporter: StepReporter, signal: AbortSignal): Promise<void> {
  console.log("working");
  for (let i = 0; ; i = (i + 10) % 90) {
    reporter.progress(i, `Item ${i}`);
    await pause(5, undefined, { signal });
  }
}

/** Does not report again. Learns of a cancellation only by `onCancel`. */
async function beSilent(reporter: StepReporter): Promise<void> {
  console.log("working");
  const cancelled = new AbortController();
  reporter.onCancel((error) => cancelled.abort(error), 20);
  await pause(600_000, undefined, { signal: cancelled.signal });
}

try {
  await step.run<object | undefined>(async (reporter, signal) => {
    if (mode === "reports") await report(reporter, signal);
    else await beSilent(reporter);
    return undefined;
  });
} catch (error) {
  console.log(`stopped: ${((error as Error).cause as Error).message}`); // The cause of an AbortError is the reason.
}
await client.close();
