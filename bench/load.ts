/** The load, in a process of its own so that it shares no event loop with what it measures. Does one task at a time. */
import autocannon from "autocannon";
import { quantile } from "./quantile.ts";
import { type WorkName, type WorkRequest, works } from "./works.ts";

export interface LoadTask {
  readonly url: string;
  readonly work: WorkName;
  readonly connections: number;
  readonly seconds: number;
}

/** Latencies in milliseconds. */
export interface Measured {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export type LoadAnswer = { readonly measured: Measured } | { readonly failure: string };

const STOP_IS_SEEN_EVERY_MS = 20;
const GIVE_UP_SECONDS = 60;

/** Asks for `seconds`, and until there have been as many answers as connections. */
async function measure({ url, work, connections, seconds }: LoadTask): Promise<LoadAnswer> {
  const { host } = new URL(url);
  const perClient = Array.from({ length: connections }, (_, index) =>
    works[work].requests(index, connections).map((request) => onTheWire(request, host)),
  );
  let index = 0;
  const latencies: number[] = [];
  const started = performance.now();
  let lastedMs = 0;
  const options: autocannon.Options = {
    url,
    connections,
    duration: GIVE_UP_SECONDS,
    sampleInt: STOP_IS_SEEN_EVERY_MS,
    setupClient: (client) => sendInTurn(client, perClient[index++]!),
  };
  const { non2xx, errors, statusCodeStats } = await run(options, (latency, stop) => {
    lastedMs = performance.now() - started;
    latencies.push(latency);
    if (lastedMs >= seconds * 1_000 && latencies.length >= connections) stop();
  });
  if (non2xx > 0) return { failure: `answers other than 2xx: ${JSON.stringify(statusCodeStats)}` };
  if (errors > 0) return { failure: `${errors} requests without an answer` };
  if (latencies.length < connections) return { failure: `${latencies.length} answers in ${GIVE_UP_SECONDS} s` };
  latencies.sort((a, b) => a - b);
  const requests = latencies.length;
  const perSecond = requests / (lastedMs / 1_000);
  return { measured: { requests, perSecond, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) } };
}

/** Autocannon would put each request together when its turn comes, and so take processor time from what is measured. */
function sendInTurn(client: autocannon.Client, requests: readonly Buffer[]): void {
  let next = 0;
  Object.assign(client, { getRequestBuffer: () => requests[next++ % requests.length] });
}

function onTheWire({ method, path, headers, body }: WorkRequest, host: string): Buffer {
  const all = {
    ...{ Host: host, Connection: "keep-alive", ...headers },
    ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }),
  };
  const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

type OnLatency = (ms: number, stop: () => void) => void;

function run(options: autocannon.Options, onLatency: OnLatency): Promise<autocannon.Result> {
  return new Promise((resolve, reject) => {
    const instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
    const stop = () => instance.stop?.();
    instance.on("response", (_client, _status, _bytes, latency) => onLatency(latency, stop));
  });
}

process.on("message", async (task: LoadTask) => process.send?.(await measure(task)));
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
