/** BullMQ and nothing else: how fast one process works off jobs that wait, with a processor that does nothing. */
import { Queue, Worker } from "bullmq";

process.on("message", async ({ jobs, concurrency }: { jobs: number; concurrency: number }) => {
  const connection = { url: process.env.REDIS_URL ?? "" };
  const queue = new Queue("empty", { connection, prefix: "empty" });
  const options = { removeOnComplete: true };
  await queue.addBulk(Array.from({ length: jobs }, (_, i) => ({ name: "job", data: { i }, opts: options })));
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
