/**
 * A BullMQ worker that reports each job of its queue: node examples/bullmq/main.ts
 *
 * SIGNALBOX_URL (default http://127.0.0.1:3000) is the service's URL, SIGNALBOX_API_TOKEN its token if it has one, and REDIS_URL
 * the Redis of the queue.
 */
import { type Job, Worker } from "bullmq";
import { createClient } from "signalbox/client";

const {
  SIGNALBOX_URL = "http://127.0.0.1:3000",
  SIGNALBOX_API_TOKEN,
  REDIS_URL = "redis://127.0.0.1:6379",
} = process.env;
const client = createClient({ url: SIGNALBOX_URL, token: SIGNALBOX_API_TOKEN });

async function resize(job: Job<{ images: string[] }>): Promise<{ images: number }> {
  const { images } = job.data;
  const report = client.job(`images-${job.id}`);
  await report.create({ name: job.name });
  // BullMQ owns the retries: only the last attempt also fails the job.
  const failJob = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  return report.step("resize", { name: "Resize", from: 0, to: 100 }).run(
    async (step) => {
      for (const [index, image] of images.entries()) {
        step.progress((100 * index) / images.length, image);
        if (!image.endsWith(".png")) throw new Error(`${image} is not a PNG file.`);
      }
      return { images: images.length };
    },
    { failJob },
  );
}

const worker = new Worker("images", resize, { connection: { url: REDIS_URL } });
worker.on("error", (error) => console.error(error.message));
process.once("SIGTERM", async () => {
  await worker.close();
  await client.close();
});
