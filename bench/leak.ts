import type { MixedSystem } from "./mixed.ts";
import type { Holding } from "./probe.ts";
import { connectionsOf, holdingOf } from "./services.ts";
import { grows, type Trend, trendOf } from "./trend.ts";

const LENGTH = { parts: 10, connections: 100 };
const MIB = 1024 * 1024;
const SHORT_REQUESTS = 100_000;
/** Over all requests, whatever their number: caches that fill. While few have been sent, code is compiled and pools grow too. */
const allowedBytes = (requests: number): number => (requests < SHORT_REQUESTS ? 32 : 4) * MIB;
/** Those of who looks. */
const MOST_CLIENTS = 2;

export const PROCESSES = ["web", "worker"] as const;
type Process = (typeof PROCESSES)[number];

/** What the processes hold after so many requests, with nothing under way. */
export interface LeakRow {
  readonly requests: number;
  readonly perSecond: number;
  readonly errors: number;
  readonly faults: readonly string[];
  readonly holding: Readonly<Record<Process, Holding>>;
  /** Connections and streams of clients that the web process has open: those of who looks. */
  readonly clients: number;
}

/**
 * Sends mixed requests to a web process and a worker, and looks at what they hold after the warm-up, a twentieth as many
 * requests, and after each tenth.
 * @param length in how many parts, if not tenths, and over how many connections
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
    yield { requests: (part * requests) / parts, perSecond, errors, faults, ...(await look(system)) };
  }
}

async function look({ web, workers: [worker] }: MixedSystem) {
  const holding = { web: await holdingOf(web), worker: await holdingOf(worker!) };
  return { holding, clients: await connectionsOf(web) };
}

/** How what a process holds goes with the requests, from the first tenth on. */
export interface LeakVerdict {
  readonly process: Process;
  /** Heap and what is beside it, in bytes for one request. */
  readonly memory: Trend;
  readonly memoryGrows: boolean;
  /** How many more there were after the last tenth than after the first. */
  readonly handles: number;
  readonly descriptors: number;
  readonly listeners: number;
  /** Memory grows, or a listener or a client's connection is left. */
  readonly leaks: boolean;
}

/** @param rows of the warm-up and of each tenth */
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
    const leaks = memoryGrows || listeners > 0 || last.clients > MOST_CLIENTS;
    const verdict = { process, memory, memoryGrows, listeners, leaks };
    return { ...verdict, handles: more("handles"), descriptors: more("descriptors") };
  });
}
