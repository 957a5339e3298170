import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Child } from "./child.ts";
import { ask } from "./measure.ts";
import { median } from "./quantile.ts";
import type { Service } from "./service.ts";

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
}

/** Opens many streams on one web process. */
export async function measureStreams(
  load: Child<true>,
  ours: Service,
  seconds: number,
  { streams: count, changes } = LENGTH,
): Promise<StreamFigures> {
  const task = { work: "report", connections: 10, seconds } as const;
  const { perSecond: without } = await ask(load, ours, task);
  const before = await residentBytes(ours);
  const streams = await Promise.all(Array.from({ length: count }, () => openStream(ours)));
  const after = await residentBytes(ours);
  const times: number[] = [];
  for (let i = 0; i < changes; i++) times.push(await measureLatency(ours, streams, `stream-${i}`));
  const { perSecond } = await ask(load, ours, task);
  for (const { socket } of streams) socket.destroy();
  return {
    streams: count,
    kibEach: (after - before) / 1024 / count,
    told: median(times),
    reports: { without, with: perSecond },
  };
}

interface Stream {
  readonly socket: Socket;
  /** Resolves when the stream has contained the text. */
  waitFor(text: string): Promise<void>;
}

async function openStream({ url }: Service): Promise<Stream> {
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
  socket.write(`GET /api/events?topic=jobs HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
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
