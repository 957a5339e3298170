/** A process that sends mixed requests. Runs one task at a time; its jobs remain from task to task. */
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type Accepted, Mix, type MixedRequest, type MixName } from "./mix.ts";
import { quantile } from "./quantile.ts";

export type MixedTask =
  /** Closed loop: each connection sends its next request after a response; closes all connections at the end. */
  | { readonly requests: number; readonly connections: number }
  /** Open loop: sends at this rate regardless of responses; pending requests count in the next task. */
  | { readonly perSecond: number; readonly seconds: number }
  /** Waits for pending requests and closes all connections. */
  | "end";

/** Latencies in milliseconds; in an open loop they start when the request was due. */
export interface MixedAnswer {
  readonly answered: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  /** Number of expected responses by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Descriptions of the first errors. */
  readonly faults: readonly string[];
  /** All accepted requests so far. */
  readonly accepted: Accepted;
}

const url = new URL(process.env.BENCH_URL ?? "");
const mix = new Mix(process.env.BENCH_MIX as MixName, Number(process.env.BENCH_SEED));
const STREAMS = 5;
const SHOWN_FAULTS = 5;
const OPEN_TICK_MS = 5;
const AGAIN_AFTER_MS = 20;

const agent = new Agent({ keepAlive: true });
const streams: IncomingMessage[] = [];
const pending = new Set<Promise<void>>();
let latencies: number[] = [];
let kinds: Record<string, number> = {};
let faults: string[] = [];
let errors = 0;

/** Sends one request and counts its result; never rejects. */
async function send(due: number): Promise<void> {
  const mixed = mix.next();
  try {
    await ask(mixed);
    kinds[mixed.kind] = (kinds[mixed.kind] ?? 0) + 1;
  } catch (error) {
    errors++;
    if (faults.length < SHOWN_FAULTS) faults.push(`${mixed.kind}: ${(error as Error).message}`);
  }
  latencies.push(performance.now() - due);
}

async function ask({ method, path, headers, body, expects, stream, onResponse }: MixedRequest): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const sent = request({
      agent,
      host: url.hostname,
      port: url.port,
      method,
      path,
      headers: { ...headers, ...length },
    });
    sent.once("response", resolve).once("error", reject).end(body);
  });
  const status = response.statusCode ?? 0;
  if (stream && status === 200) return hold(response);
  const responseText = await text(response);
  if (!expects.includes(status))
    throw new Error(`${method} ${path} was answered ${status}: ${responseText.slice(0, 200)}`);
  onResponse?.(responseText, status);
}

/** Keeps a stream open until several others have been opened. */
async function hold(stream: IncomingMessage): Promise<void> {
  stream.on("error", () => {}); // The stream is closed in the middle.
  await new Promise((begun) => stream.once("data", begun));
  stream.resume();
  streams.push(stream);
  if (streams.length > STREAMS) streams.shift()?.destroy();
}

async function closed({ requests, connections }: { requests: number; connections: number }): Promise<void> {
  let left = requests;
  const one = async () => {
    while (left-- > 0) await send(performance.now());
  };
  await Promise.all(Array.from({ length: connections }, one));
  await end();
}

async function open({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<void> {
  const started = performance.now();
  const total = perSecond * seconds;
  for (let sent = 0; sent < total; await pause(OPEN_TICK_MS)) {
    for (const isDue = (performance.now() - started) * (perSecond / 1_000); sent < Math.min(isDue, total); sent++) {
      const sending: Promise<void> = send(started + (sent * 1_000) / perSecond).finally(() => pending.delete(sending));
      pending.add(sending);
    }
  }
}

async function end(): Promise<void> {
  await Promise.all(pending);
  for (const stream of streams.splice(0)) stream.destroy();
  while (Object.keys(agent.sockets).length > 0) await pause(AGAIN_AFTER_MS);
  agent.destroy();
}

function takeAnswer(): MixedAnswer {
  latencies.sort((a, b) => a - b);
  const [p50, p99] = latencies.length > 0 ? [quantile(latencies, 0.5), quantile(latencies, 0.99)] : [0, 0];
  const answer = { answered: latencies.length, errors, p50, p99, kinds, faults, accepted: mix.accepted };
  [latencies, kinds, faults, errors] = [[], {}, [], 0];
  return answer;
}

process.on("message", async (task: MixedTask) => {
  if (task === "end") await end();
  else await ("requests" in task ? closed(task) : open(task));
  process.send?.(takeAnswer());
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
