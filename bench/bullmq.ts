/**
 * Measures BullMQ alone: how fast one process completes waiting jobs with a processor that does nothing. Another
 * process has added the jobs, so that this one is as cold as a worker that has just started.
 */
import { Worker } from "bullmq";

process.on("message", async ({ jobs, concurrency }: { jobs: number; concurrency: number }) => {
  const connection = { url: process.env.REDIS_URL ?? "" };
  let left = jobs;
  const worker = new Worker("empty", async () => {}, { connection, concurrency, prefix: "empty", autorun: false });
  await worker.waitUntilReady();
  const started = performance.now();
  worker.on("completed", () => {
    if (--left === 0) process.send?.({ perSecond: jobs / ((performance.now() - started) / 1_000) });
  });
  await worker.run();
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => process.exit());
process.send?.({ ready: true });
