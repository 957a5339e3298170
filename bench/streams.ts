import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Child } from "./child.ts";
import { JOB_IDS, jobPath } from "./jobs.ts";
import { ask } from "./measure.ts";
import { median } from "./quantile.ts";
import type { Service } from "./service.ts";
import type { Ours } from "./services.ts";

const LENGTH = { streams: 1_000, changes: 9 };

/** The cost and the latency of open streams of live events. */
export interface StreamFigures {
  readonly streams: number;
  /** Resident memory of the web process per stream, in KiB. */
  readonly kibEach: number;
  /** p50 from the response to a change until its event has arrived on all streams, in milliseconds. */
  readonly told: number;
  /** Reports per second on 10 connections, without streams and with all of them receiving each change. */
  readonly reports: { readonly without: number; readonly with: number };
  /** Open pages of single jobs, spread over all jobs of the load, while the load reports on these jobs. */
  readonly pages: {
    readonly open: number;
    readonly jobs: number;
    /** Reports per second on 10 connections. */
    readonly reports: number;
    /** MongoDB queries per second: reads of the live feed and of the reports. */
    readonly queries: number;
    /** MongoDB queries per second of the same load without pages. */
    readonly queriesWithout: number;
  };
}

/** Opens many streams on one web process. */
export async function measureStreams(
  load: Child<true>,
  ours: Ours,
  seconds: number,
  { streams: count, changes } = LENGTH,
): Promise<StreamFigures> {
  const task = { work: "report", connections: 10, seconds } as const;
  const { perSecond: without, queries: queriesWithout } = await countQueries(ours, () => ask(load, ours, task));
  const before = await residentBytes(ours);
  const streams = await Promise.all(Array.from({ length: count }, () => openStream(ours, "/api/events?topic=jobs")));
  const after = await residentBytes(ours);
  const times: number[] = [];
  for (let i = 0; i < changes; i++) times.push(await measureLatency(ours, streams, `stream-${i}`));
  const { perSecond } = await ask(load, ours, task);
  for (const { socket } of streams) socket.destroy();
  const pages = await Promise.all(
    Array.from({ length: count }, (_, i) => openStream(ours, `${jobPath(JOB_IDS[i % JOB_IDS.length]!)}/events`)),
  );
  const { perSecond: reports, queries } = await countQueries(ours, () => ask(load, ours, task));
  for (const { socket } of pages) socket.destroy();
  return {
    streams: count,
    kibEach: (after - before) / 1024 / count,
    told: median(times),
    reports: { without, with: perSecond },
    pages: { open: count, jobs: Math.min(count, JOB_IDS.length), reports, queries, queriesWithout },
  };
}

interface Stream {
  readonly socket: Socket;
  /** Resolves when the stream has contained the text. */
  waitFor(text: string): Promise<void>;
}

async function openStream({ url }: Service, path: string): Promise<Stream> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let wanted = '"live":true';
  let received = Promise.withResolvers<void>();
  let rest = "";
  socket.on("data", (chunk: string) => {
    const text = rest + chunk;
    if (text.includes(wanted)) received.resolve();
    rest = text.slice(-wanted.length);
  });
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await received.promise;
  return {
    socket,
    waitFor(text) {
      received = Promise.withResolvers();
      wanted = text;
      return received.promise;
    },
  };
}

async function measureLatency({ url }: Service, streams: readonly Stream[], jobId: string): Promise<number> {
  const received = Promise.all(streams.map((stream) => stream.waitFor(`"${jobId}"`)));
  await fetch(`${url}/api/jobs/${jobId}`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: "{}",
  });
  const answeredAt = performance.now();
  await received;
  return performance.now() - answeredAt;
}

async function residentBytes({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** Runs a load and counts the queries that MongoDB answers meanwhile, per second. */
async function countQueries<T extends object>(
  { runs }: Ours,
  load: () => Promise<T>,
): Promise<T & { queries: number }> {
  const count = async () => (await runs.db.command({ serverStatus: 1 })).opcounters.query as number;
  const [before, startedAt] = [await count(), performance.now()];
  const result = await load();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { ...result, queries: ((await count()) - before) / seconds };
}
