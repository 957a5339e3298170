/** The load, in a process of its own so that it shares no event loop with the services. Runs one task at a time. */
import { randomUUID } from "node:crypto";
import { Connection, type WorkRequest } from "./connection.ts";
import type { Life, Send } from "./lives.ts";
import { quantile } from "./statistics.ts";
import { type Work, type WorkName, works } from "./works.ts";

export interface LoadTask {
  readonly url: string;
  readonly work: WorkName;
  readonly connections: number;
  readonly seconds: number;
  /** Number of stored jobs. */
  readonly jobs: number;
}

/** The figures of one turn. */
export interface Measured {
  /** Requests a second. */
  readonly perSecond: number;
  /** Latency in milliseconds. */
  readonly p99: number;
}

/** @property jobIds the jobs whose whole lives were run */
export type LoadAnswer =
  | { readonly measured: Measured; readonly jobIds: readonly string[] }
  | { readonly failure: string };

async function measure({ url, connections, seconds, jobs, ...task }: LoadTask): Promise<LoadAnswer> {
  const { life, request }: Work = works[task.work];
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(url)));
  const latencies: number[] = [];
  const jobIds: string[] = [];
  const senders = open.map((connection) => async (sent: WorkRequest) => {
    const sentAt = performance.now();
    await connection.send(sent);
    latencies.push(performance.now() - sentAt);
  });
  const started = performance.now();
  const untilOver = async (once: () => Promise<void>) => {
    do await once();
    while (performance.now() - started < seconds * 1_000);
  };
  try {
    if (life) {
      await Promise.all(groupsOf(senders, life.width).map((group) => untilOver(() => live(life, group, jobIds))));
    } else if (request) {
      await Promise.all(senders.map((send) => untilOver(() => send(request(jobs)))));
    }
    const perSecond = latencies.length / ((performance.now() - started) / 1_000);
    latencies.sort((a, b) => a - b);
    return { measured: { perSecond, p99: quantile(latencies, 0.99) }, jobIds };
  } catch (error) {
    return { failure: (error as Error).message };
  } finally {
    for (const connection of open) connection.close();
  }
}

/** Runs one whole life. A life that has begun is finished and counted, so that a turn measures whole lives only. */
async function live(life: Life, senders: readonly Send[], jobIds: string[]): Promise<void> {
  const jobId = `life-${randomUUID()}`;
  jobIds.push(jobId);
  await life.live(senders, jobId);
}

function groupsOf<T>(all: readonly T[], width: number): T[][] {
  return Array.from({ length: all.length / width }, (_, i) => all.slice(i * width, (i + 1) * width));
}

process.on("message", async (task: LoadTask) => process.send?.(await measure(task)));
process.on("disconnect", () => process.exit());
process.send?.({ ready: {} });
