import { Queue } from "bullmq";
import { eventually } from "../test/support/eventually.ts";
import { startChild } from "./child.ts";
import { agentHookBody, postHook } from "./hooks.ts";
import { median } from "./quantile.ts";
import type { Ours, Started } from "./services.ts";

/** Runs of the echo runner and jobs of BullMQ per second. */
export interface EchoFigures {
  readonly waiting: number;
  readonly concurrency: number;
  readonly ours: number;
  readonly bullmq: number;
}

const CONCURRENCY = 32;
/** Polling interval: each poll takes processor time from the measured process. */
const POLL_EVERY_MS = 50;

/**
 * Measures how fast one worker process completes waiting runs, from its readiness until all of them are finalized, and
 * a BullMQ worker of the same concurrency with an empty processor, in turn.
 * @param concurrencies the values of `worker.concurrency` to measure
 * @returns the figures, and the last worker, which is idle
 */
export async function measureEcho(
  ours: Ours,
  { turns, waiting, concurrencies }: { turns: number; waiting: number; concurrencies: readonly number[] },
): Promise<{ figures: EchoFigures[]; worker: Started }> {
  const figures: EchoFigures[] = [];
  let worker: Started | undefined;
  for (const concurrency of concurrencies) {
    const rates: { ours: number; bullmq: number }[] = [];
    for (let turn = 0; turn < turns; turn++) {
      await worker?.stop();
      await ours.clear();
      await post(ours, waiting);
      worker = await ours.startWorker({ WORKER_CONCURRENCY: String(concurrency) });
      const readyAt = performance.now();
      // These queries use an index and cost less than counting the completed runs.
      const none = async (query: object) => (await ours.runs.findOne(query, { projection: { _id: 1 } })) === null;
      const settled = async () => (await none({ open: true })) && (await none({ settled: false }));
      await eventually(settled, "the runs to end", 120_000, POLL_EVERY_MS);
      const seconds = (performance.now() - readyAt) / 1_000;
      const failed = await ours.runs.countDocuments({ status: { $ne: "completed" } });
      if (failed > 0) throw new Error(`${failed} of ${waiting} runs did not complete`);
      rates.push({ ours: waiting / seconds, bullmq: await emptyRate(ours.redis, waiting, concurrency) });
    }
    const both = { ours: median(rates.map((rate) => rate.ours)), bullmq: median(rates.map((rate) => rate.bullmq)) };
    figures.push({ waiting, concurrency, ...both });
  }
  return { figures, worker: worker as Started };
}

async function post(ours: Ours, count: number): Promise<void> {
  let left = count;
  const poster = async () => {
    while (left-- > 0) await postHook(ours, "/hooks/agent", agentHookBody("next-heartbeat"));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, poster));
}

async function emptyRate(redis: string, jobs: number, concurrency: number): Promise<number> {
  const queue = new Queue("empty", { connection: { url: redis }, prefix: "empty" });
  const opts = { removeOnComplete: true };
  await queue.addBulk(Array.from({ length: jobs }, (_, i) => ({ name: "job", data: { i }, opts })));
  await queue.close();
  const child = await startChild<true>(new URL("./bullmq.ts", import.meta.url), { REDIS_URL: redis });
  child.process.send({ jobs, concurrency });
  const { perSecond } = (await child.nextMessage()) as { perSecond: number };
  await child.stop();
  return perSecond;
}
