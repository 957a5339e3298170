import { setTimeout as pause } from "node:timers/promises";
import { openEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import type { Read, RunRead } from "../checks/history.ts";
import type { Random } from "../random.ts";
import { TOKEN } from "../system/system.ts";
import type { Client } from "./client.ts";
import type { SentRequests } from "./load.ts";

/** Number of the newest jobs and runs that a reader polls. */
const NEWEST = 20;

export interface Observations {
  readonly reads: Read[];
  readonly runReads: RunRead[];
}

interface ReaderSettings {
  readonly client: Client;
  readonly random: Random;
  readonly stop: AbortSignal;
  /** Pause of a reader after each poll. */
  readonly everyMs: number;
}

/** Reads jobs and runs through any web process and follows events, until it is aborted. */
export async function readAll(
  observations: Observations,
  sent: SentRequests,
  { client, random, stop, everyMs }: ReaderSettings,
): Promise<void> {
  const poller = async (reader: string, random: Random) => {
    while (!stop.aborted) {
      await Promise.all([
        pollJob(observations, reader, random.pick(sent.jobIds.slice(-NEWEST)), client),
        pollRun(observations, reader, random.pick(sent.runIds.slice(-NEWEST)), client),
      ]);
      await pause(everyMs, undefined, { signal: stop }).catch(() => {});
    }
  };
  const pollers = ["poller 1", "poller 2"].map((reader) => poller(reader, random.fork(reader)));
  const followers = ["follower 1", "follower 2"].map((reader) => follow(observations, reader, client, stop));
  await Promise.all([...pollers, ...followers]);
}

async function pollJob(
  observations: Observations,
  reader: string,
  jobId: string | undefined,
  client: Client,
): Promise<void> {
  const answer = jobId === undefined ? undefined : await client.request("GET", `/api/jobs/${jobId}`);
  if (jobId === undefined || answer?.status !== 200) return;
  const { progress, status, output } = answer.body;
  observations.reads.push({ reader, jobId, progress, status, hasOutput: output !== null });
}

async function pollRun(
  observations: Observations,
  reader: string,
  runId: string | undefined,
  client: Client,
): Promise<void> {
  const answer = runId === undefined ? undefined : await client.request("GET", `/api/runs/${runId}`);
  if (runId === undefined || answer?.status !== 200) return;
  const { status, reply } = answer.body;
  observations.runReads.push({ reader, runId, status, reply });
}

/** Follows events over successive streams, each from the last event of the previous one. */
async function follow(observations: Observations, reader: string, client: Client, stop: AbortSignal): Promise<void> {
  let lastId: string | undefined;
  while (!stop.aborted) {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...(lastId !== undefined && { "Last-Event-ID": lastId }) };
    const url = `${client.url()}/api/events?topic=jobs&topic=runs`;
    const stream = await openEvents(url, headers, { live: false }).catch(() => undefined);
    if (stream) {
      await eventually(() => stream.isOver() || stop.aborted, "the end of a stream", Number.POSITIVE_INFINITY);
      stream.close();
      lastId = stream.lastId() ?? lastId;
      for (const { event, data } of stream.events) {
        if (event === "job") {
          const { jobId, progress, status } = data;
          observations.reads.push({ reader, jobId, progress, status });
        } else if (event === "run") {
          observations.runReads.push({ reader, runId: data.runId, status: data.status, reply: null });
        }
      }
    }
    await pause(100, undefined, { signal: stop }).catch(() => {});
  }
}
