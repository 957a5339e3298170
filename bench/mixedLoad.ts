/** Mixed requests, from a process of their own. Its tasks follow one another; the jobs that it knows stay. */
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type Accepted, Mix, type MixedRequest, type MixName } from "./mix.ts";
import { quantile } from "./quantile.ts";

export type MixedTask =
  /** So many requests, each connection its next when the one before is answered; ends with nothing open. */
  | { readonly requests: number; readonly connections: number }
  /** So many a second, whether or not those before are answered; what has no answer yet counts in the next task. */
  | { readonly perSecond: number; readonly seconds: number }
  /** Waits for what has no answer yet, and leaves nothing open. */
  | "end";

/** Latencies in milliseconds: of the second kind of task from the moment when the request was due. */
export interface MixedAnswer {
  readonly answered: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  /** How often each kind was answered as it is to be. */
  readonly kinds: Readonly<Record<string, number>>;
  /** What the first errors were. */
  readonly faults: readonly string[];
  /** Up to now. */
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
const underWay = new Set<Promise<void>>();
let latencies: number[] = [];
let kinds: Record<string, number> = {};
let faults: string[] = [];
let errors = 0;

/** Sends one request and counts what comes of it; never rejects. */
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

async function ask({ method, path, headers, body, expects, stream, told }: MixedRequest): Promise<void> {
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
  const said = await text(response);
  if (!expects.includes(status)) throw new Error(`${method} ${path} was answered ${status}: ${said.slice(0, 200)}`);
  told?.(said, status);
}

/** Keeps a stream until some others have been opened. */
async function hold(stream: IncomingMessage): Promise<void> {
  stream.on("error", () => {}); // it is cut in the middle
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
      const sending: Promise<void> = send(started + (sent * 1_000) / perSecond).finally(() => underWay.delete(sending));
      underWay.add(sending);
    }
  }
}

async function end(): Promise<void> {
  await Promise.all(underWay);
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
