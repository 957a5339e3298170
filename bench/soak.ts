import { MIX } from "./mix.ts";
import type { MixedSystem } from "./mixed.ts";
import type { MixedAnswer } from "./mixedLoad.ts";
import type { Holding } from "./probe.ts";
import { median } from "./quantile.ts";
import { holdingOf } from "./services.ts";
import { grows, type Trend, trendOf } from "./trend.ts";

const LEAST_ROWS = 10;
/** Over the second half. */
const ALLOWED_BYTES = 4 * 1024 * 1024;
/** p99 of the last quarter beside that of the second. */
const ALLOWED_RATIO = 1.5;

export const PROCESSES = ["web", "worker 1", "worker 2"] as const;

/** One minute, or a tenth of a shorter soak. */
export interface SoakRow {
  /** At its end. */
  readonly seconds: number;
  readonly load: MixedAnswer;
  /** Of each process, after a collection at its beginning. */
  readonly holding: readonly Holding[];
  readonly databaseConnections: number;
  /** What waits on queues or is being done. */
  readonly queued: number;
}

export interface Soak {
  /** Holds the rate until it is over. */
  rows(): AsyncGenerator<SoakRow>;
  /** Lets everything end. @returns what was accepted, and what of it is not as it must be */
  finish(): Promise<{ readonly last: MixedAnswer; readonly undone: readonly string[] }>;
}

/** A web process and two workers under the same load all the time, whether or not they keep up. */
export function startSoak(
  system: MixedSystem,
  { soak: minutes, rate }: { soak: number; rate: number },
  leastRows = LEAST_ROWS,
): Soak {
  const each = Math.min(60, (minutes * 60) / leastRows);
  return {
    async *rows() {
      for (let row = 1; row * each <= minutes * 60 + 1e-6; row++) {
        const [load, looked] = await Promise.all([system.ask({ perSecond: rate, seconds: each }), look(system)]);
        yield { seconds: row * each, load, ...looked };
      }
    },
    async finish() {
      const last = await system.ask("end");
      await system.settle();
      return { last, undone: await undoneOf(system, last) };
    },
  };
}

async function look({ web, workers, databaseConnections }: MixedSystem) {
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
  /** Of each process, heap and what is beside it, in the second half, in bytes a minute. */
  readonly memory: readonly (Trend & { readonly grows: boolean })[];
  /** p99 of the last quarter beside that of the second, medians of the rows. */
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
