import { randomUUID } from "node:crypto";
import { Connection, type WorkRequest } from "./connection.ts";
import type { Life, Send } from "./lives.ts";
import type { LoadTask, Timed } from "./loadTask.ts";

/**
 * Runs one job's life after another on each group of `life.width` connections. No life begins after `seconds`; those in
 * progress are finished and counted, so that a turn measures whole lives only.
 */
export async function loadWithLives(life: Life, { url, connections, seconds }: LoadTask): Promise<Timed> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(url)));
  const latencies: number[] = [];
  const jobIds: string[] = [];
  const timed =
    (connection: Connection): Send =>
    async (request: WorkRequest) => {
      const sentAt = performance.now();
      await connection.send(request);
      latencies.push(performance.now() - sentAt);
    };
  const started = performance.now();
  const liveInTurn = async (senders: readonly Send[]) => {
    do {
      const jobId = `life-${randomUUID()}`;
      jobIds.push(jobId);
      await life.live(senders, jobId);
    } while (performance.now() - started < seconds * 1_000);
  };
  const senders = open.map(timed);
  try {
    const groups = Array.from({ length: connections / life.width }, (_, i) =>
      senders.slice(i * life.width, (i + 1) * life.width),
    );
    await Promise.all(groups.map(liveInTurn));
    return { latencies, lastedMs: performance.now() - started, jobIds };
  } finally {
    for (const connection of open) connection.close();
  }
}
