/** The load, in a process of its own so that it shares no event loop with the services. Runs one task at a time. */
import { randomUUID } from "node:crypto";
import autocannon from "autocannon";
import { encodeRequest, type WorkRequest } from "./connection.ts";
import { loadWithInserts } from "./insertLoad.ts";
import { loadWithLives } from "./liveLoad.ts";
import type { LoadTask, Timed } from "./loadTask.ts";
import { quantile } from "./quantile.ts";
import { allWorks, type RequestWork, type Work } from "./works.ts";

/** Latencies in milliseconds. */
export interface Measured {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export type LoadAnswer =
  | { readonly measured: Measured; readonly jobIds: readonly string[] }
  | { readonly failure: string };

const SAMPLE_EVERY_MS = 20;
const GIVE_UP_SECONDS = 60;

async function measure(task: LoadTask): Promise<LoadAnswer> {
  const work: Work = allWorks[task.work];
  try {
    const { latencies, lastedMs, jobIds = [] } = await load(work, task);
    latencies.sort((a, b) => a - b);
    const requests = latencies.length;
    const perSecond = requests / (lastedMs / 1_000);
    return { measured: { requests, perSecond, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }, jobIds };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

function load(work: Work, task: LoadTask): Promise<Timed> {
  if (work.kind === "life") return loadWithLives(work.life, task);
  return work.kind === "inserts" ? loadWithInserts(task) : loadWithRequests(work, task);
}

/** Sends requests for `seconds`, and until there have been as many responses as connections. */
async function loadWithRequests(
  work: RequestWork,
  { url, connections, seconds, runIds = [] }: LoadTask,
): Promise<Timed> {
  const { host } = new URL(url);
  const perClient = Array.from({ length: connections }, (_, index) =>
    bufferSource(work, work.requests(index, connections, runIds), host),
  );
  let index = 0;
  const latencies: number[] = [];
  const started = performance.now();
  let lastedMs = 0;
  const options: autocannon.Options = {
    url,
    connections,
    duration: GIVE_UP_SECONDS,
    sampleInt: SAMPLE_EVERY_MS,
    // Autocannon would build each request when it sends it, which takes processor time from the services.
    setupClient: (client) => Object.assign(client, { getRequestBuffer: perClient[index++]! }),
  };
  const { non2xx, errors, statusCodeStats } = await run(options, (latency, stop) => {
    lastedMs = performance.now() - started;
    latencies.push(latency);
    if (lastedMs >= seconds * 1_000 && latencies.length >= connections) stop();
  });
  if (non2xx > 0) throw new Error(`answers other than 2xx: ${JSON.stringify(statusCodeStats)}`);
  if (errors > 0) throw new Error(`${errors} requests without an answer`);
  if (latencies.length < connections) throw new Error(`${latencies.length} answers in ${GIVE_UP_SECONDS} s`);
  return { latencies, lastedMs };
}

/** Returns a function that yields the encoded requests in turn; requests with keys get a new key each time. */
function bufferSource({ hasKeys }: RequestWork, requests: readonly WorkRequest[], host: string): () => Buffer {
  const buffers = requests.map((request) => encodeRequest(request, host));
  let next = 0;
  if (!hasKeys) return () => buffers[next++ % buffers.length]!;
  return () => {
    const request = requests[next++ % requests.length]!;
    return encodeRequest({ ...request, headers: { ...request.headers, "Idempotency-Key": randomUUID() } }, host);
  };
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
