import type { MixedSystem } from "./mixed.ts";
import type { Holding } from "./probe.ts";
import { connectionsOf, holdingOf } from "./services.ts";
import { grows, type Trend, trendOf } from "./trend.ts";

const LENGTH = { parts: 10, connections: 100 };
const MIB = 1024 * 1024;
const SHORT_REQUESTS = 100_000;
/** Allowed growth over all requests: caches fill, and in a short run code is compiled and pools grow too. */
const allowedBytes = (requests: number): number => (requests < SHORT_REQUESTS ? 32 : 4) * MIB;
/** Allowed client connections: those of the measurement. */
const MAX_CLIENTS = 2;

export const PROCESSES = ["web", "worker"] as const;
type Process = (typeof PROCESSES)[number];

/** The resources of the processes after a number of requests, with none in progress. */
export interface LeakRow {
  readonly requests: number;
  readonly perSecond: number;
  readonly errors: number;
  readonly faults: readonly string[];
  readonly holding: Readonly<Record<Process, Holding>>;
  /** Client connections and streams of the web process, including those of the measurement. */
  readonly clients: number;
}

/**
 * Sends mixed requests to a web process and a worker, and measures their resources after the warm-up, which has a
 * twentieth of the requests, and after each tenth.
 * @param length the number of parts, ten by default, and of connections
 */
export async function* measureLeak(
  system: MixedSystem,
  requests: number,
  { parts, connections } = LENGTH,
): AsyncGenerator<LeakRow> {
  for (let part = 0; part <= parts; part++) {
    const started = performance.now();
    const share = part === 0 ? 2 * parts : parts;
    const answer = await system.ask({ requests: Math.ceil(requests / share), connections });
    const perSecond = answer.answered / ((performance.now() - started) / 1_000);
    await system.settle();
    const { errors, faults } = answer;
    yield { requests: (part * requests) / parts, perSecond, errors, faults, ...(await measureNow(system)) };
  }
}

async function measureNow({ web, workers: [worker] }: MixedSystem) {
  const holding = { web: await holdingOf(web), worker: await holdingOf(worker!) };
  return { holding, clients: await connectionsOf(web) };
}

/** The growth of a process's resources with the requests, from the first tenth on. */
export interface LeakVerdict {
  readonly process: Process;
  /** Heap and external memory, in bytes per request. */
  readonly memory: Trend;
  readonly memoryGrows: boolean;
  /** The increase from the first tenth to the last, as in the next two. */
  readonly handles: number;
  readonly descriptors: number;
  readonly listeners: number;
  /** Whether memory grows, or a listener or a client's connection is left open. */
  readonly leaks: boolean;
}

/** @param rows the rows of the warm-up and of each tenth */
export function judgeLeak(rows: readonly LeakRow[]): LeakVerdict[] {
  const [, first, ...rest] = rows as [LeakRow, LeakRow, ...LeakRow[]];
  const last = rest.at(-1)!;
  return PROCESSES.map((process) => {
    const memory = trendOf(
      [first, ...rest].map(({ requests, holding }) => {
        const { heap, external } = holding[process];
        return [requests, heap + external] as const;
      }),
    );
    const memoryGrows = grows(memory, last.requests - first.requests, allowedBytes(last.requests));
    const more = (key: "handles" | "descriptors" | "listeners") =>
      last.holding[process][key] - first.holding[process][key];
    const listeners = more("listeners");
    const leaks = memoryGrows || listeners > 0 || last.clients > MAX_CLIENTS;
    const verdict = { process, memory, memoryGrows, listeners, leaks };
    return { ...verdict, handles: more("handles"), descriptors: more("descriptors") };
  });
}
