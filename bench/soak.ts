import { MIX } from "./mix.ts";
import type { MixedSystem } from "./mixed.ts";
import type { MixedAnswer } from "./mixedLoad.ts";
import type { Holding } from "./probe.ts";
import { median } from "./quantile.ts";
import { holdingOf } from "./services.ts";
import { grows, type Trend, trendOf } from "./trend.ts";

const MIN_ROWS = 10;
/** Allowed growth of memory over the second half. */
const ALLOWED_BYTES = 4 * 1024 * 1024;
/** Maximum p99 of the last quarter relative to the second. */
const ALLOWED_RATIO = 1.5;

export const PROCESSES = ["web", "worker 1", "worker 2"] as const;

/** The figures of one minute, or of a tenth of a shorter soak. */
export interface SoakRow {
  /** The time since the start, at the end of the row. */
  readonly seconds: number;
  readonly load: MixedAnswer;
  /** The resources of each process after a garbage collection at the start of the row. */
  readonly holding: readonly Holding[];
  readonly databaseConnections: number;
  /** Number of waiting and active jobs in the queues. */
  readonly queued: number;
}

export interface Soak {
  /** Sends requests at the rate for the whole time and yields the rows. */
  rows(): AsyncGenerator<SoakRow>;
  /** Waits for all accepted work. Returns what was accepted, and descriptions of what is missing. */
  finish(): Promise<{ readonly last: MixedAnswer; readonly undone: readonly string[] }>;
}

/** Starts a soak: a steady open-loop load on a web process and two workers. */
export function startSoak(
  system: MixedSystem,
  { soak: minutes, rate }: { soak: number; rate: number },
  minRows = MIN_ROWS,
): Soak {
  const each = Math.min(60, (minutes * 60) / minRows);
  return {
    async *rows() {
      for (let row = 1; row * each <= minutes * 60 + 1e-6; row++) {
        const [load, measuredNow] = await Promise.all([
          system.ask({ perSecond: rate, seconds: each }),
          measureNow(system),
        ]);
        yield { seconds: row * each, load, ...measuredNow };
      }
    },
    async finish() {
      const last = await system.ask("end");
      await system.settle();
      return { last, undone: await undoneOf(system, last) };
    },
  };
}

async function measureNow({ web, workers, databaseConnections }: MixedSystem) {
  const metrics = await (await fetch(`${web.url}/metrics`)).text();
  const depths = [...metrics.matchAll(/^signalbox_queue_jobs\{.*state="(?:waiting|active)"\} (\d+)$/gm)];
  const queued = depths.reduce((sum, [, depth]) => sum + Number(depth), 0);
  const holding = await Promise.all([web, ...workers].map(holdingOf));
  return { queued, holding, databaseConnections: await databaseConnections() };
}

async function undoneOf({ web, database, posts }: MixedSystem, { accepted }: MixedAnswer): Promise<string[]> {
  const { runs, deliveries, events } = database.collections;
  const [completed, sent, taken] = await Promise.all([
    runs.countDocuments({ status: "completed" }),
    deliveries.countDocuments({ state: "sent" }),
    events.countDocuments({ source: { $regex: "wake" }, waiting: false }),
  ]);
  const counted = [
    ["runs completed", completed, accepted.runs],
    ["deliveries sent", sent, accepted.deliveries],
    ["messages at the channel's service", posts.size, accepted.deliveries],
    ["wakes told to the main session", taken, accepted.wakes],
  ] as const;
  const undone = counted.flatMap(([what, is, least]) => (is >= least ? [] : [`${what}: ${is} of ${least}`]));
  for (const [jobId, progress] of accepted.jobs) {
    const headers = { Authorization: `Bearer ${MIX.apiToken}` };
    const response = await fetch(`${web.url}/api/jobs/${jobId}`, { headers });
    const job = (await response.json()) as { progress?: number; status?: string };
    const isDone = response.ok && (job.progress ?? 0) >= progress && (progress < 100 || job.status === "completed");
    if (!isDone) undone.push(`job ${jobId}, answered at ${progress}: ${JSON.stringify(job)}`);
  }
  return undone;
}

export interface SoakVerdict {
  /** The trend of each process's heap and external memory in the second half, in bytes per minute. */
  readonly memory: readonly (Trend & { readonly grows: boolean })[];
  /** p99 of the second and the last quarter, as medians of the rows. */
  readonly p99: { readonly second: number; readonly last: number; readonly isFlat: boolean };
}

export function judgeSoak(rows: readonly SoakRow[]): SoakVerdict {
  const half = rows.slice(rows.length >> 1);
  const memory = half[0]!.holding.map((_, i) => {
    const points = half.map(({ seconds, holding }) => [seconds / 60, holding[i]!.heap + holding[i]!.external] as const);
    const trend = trendOf(points);
    return { ...trend, grows: grows(trend, (half.at(-1)!.seconds - half[0]!.seconds) / 60, ALLOWED_BYTES) };
  });
  const quarter = rows.length / 4;
  const [second, last] = [1, 3].map((n) =>
    median(rows.slice(Math.floor(n * quarter), Math.floor((n + 1) * quarter)).map(({ load }) => load.p99)),
  ) as [number, number];
  return { memory, p99: { second, last, isFlat: last <= second * ALLOWED_RATIO } };
}
