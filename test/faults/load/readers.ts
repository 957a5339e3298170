import { setTimeout as pause } from "node:timers/promises";
import { openEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import type { Read, RunRead } from "../checks/history.ts";
import type { Random } from "../random.ts";
import { TOKEN } from "../system/system.ts";
import type { Client } from "./client.ts";
import type { Asked } from "./load.ts";

/** Number of the newest jobs and runs that a reader polls. */
const NEWEST = 20;

export interface Seen {
  readonly reads: Read[];
  readonly runReads: RunRead[];
}

interface ReaderSettings {
  readonly client: Client;
  readonly random: Random;
  readonly over: AbortSignal;
  /** Pause of a reader after each poll. */
  readonly everyMs: number;
}

/** Reads jobs and runs through any web process and follows events, until it is aborted. */
export async function readAll(
  seen: Seen,
  asked: Asked,
  { client, random, over, everyMs }: ReaderSettings,
): Promise<void> {
  const poller = async (reader: string, random: Random) => {
    while (!over.aborted) {
      await Promise.all([
        pollJob(seen, reader, random.pick(asked.jobIds.slice(-NEWEST)), client),
        pollRun(seen, reader, random.pick(asked.runIds.slice(-NEWEST)), client),
      ]);
      await pause(everyMs, undefined, { signal: over }).catch(() => {});
    }
  };
  const pollers = ["poller 1", "poller 2"].map((reader) => poller(reader, random.fork(reader)));
  const followers = ["follower 1", "follower 2"].map((reader) => follow(seen, reader, client, over));
  await Promise.all([...pollers, ...followers]);
}

async function pollJob(seen: Seen, reader: string, jobId: string | undefined, client: Client): Promise<void> {
  const answer = jobId === undefined ? undefined : await client.ask("GET", `/api/jobs/${jobId}`);
  if (jobId === undefined || answer?.status !== 200) return;
  const { progress, status, output } = answer.body;
  seen.reads.push({ reader, jobId, progress, status, hasOutput: output !== null });
}

async function pollRun(seen: Seen, reader: string, runId: string | undefined, client: Client): Promise<void> {
  const answer = runId === undefined ? undefined : await client.ask("GET", `/api/runs/${runId}`);
  if (runId === undefined || answer?.status !== 200) return;
  const { status, reply } = answer.body;
  seen.runReads.push({ reader, runId, status, reply });
}

/** Follows events over successive streams, each from the last event of the previous one. */
async function follow(seen: Seen, reader: string, client: Client, over: AbortSignal): Promise<void> {
  let lastId: string | undefined;
  while (!over.aborted) {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...(lastId !== undefined && { "Last-Event-ID": lastId }) };
    const url = `${client.url()}/api/events?topic=jobs&topic=runs`;
    const stream = await openEvents(url, headers, { live: false }).catch(() => undefined);
    if (stream) {
      await eventually(() => stream.isOver() || over.aborted, "the end of a stream", Number.POSITIVE_INFINITY);
      stream.close();
      lastId = stream.lastId() ?? lastId;
      for (const { event, data } of stream.events) {
        if (event === "job") {
          const { jobId, progress, status } = data;
          seen.reads.push({ reader, jobId, progress, status });
        } else if (event === "run") {
          seen.runReads.push({ reader, runId: data.runId, status: data.status, reply: null });
        }
      }
    }
    await pause(100, undefined, { signal: over }).catch(() => {});
  }
}
