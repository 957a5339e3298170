import type { Clock } from "../../shared/clock.ts";
import { type Figures, type HistorySpan, type JobHistory, MAX_HISTORY_NAMES } from "../../wire/stats.ts";
import type { Documents } from "../db/documents.ts";
import { addDurations, quantile } from "./durations.ts";
import { type JobFiguresDoc, PERIODS } from "./jobFigures.ts";

/** The spans of time that figures can be read for, each with the number of its periods. */
const SPANS: Record<HistorySpan, number> = { hour: 12, day: 24, week: 28 };

/**
 * Reads the figures of jobs in the last hour, day or week.
 * @param name confines the periods to the jobs of this name; all jobs by default
 */
export async function readJobHistory(
  collection: Documents<JobFiguresDoc>,
  clock: Clock,
  { span, name }: { span: HistorySpan; name?: string },
): Promise<JobHistory> {
  const { seconds } = PERIODS[span];
  const last = Math.floor(clock.now().getTime() / (seconds * 1_000));
  const starts = Array.from({ length: SPANS[span] }, (_, i) => (last - SPANS[span] + 1 + i) * seconds * 1_000);
  const query = { seconds, start: { $gte: new Date(starts[0] as number) } };
  const docs = await collection.find<JobFiguresDoc>(query);
  const wanted = name ?? null;
  const byStart = new Map(docs.filter((doc) => doc.name === wanted).map((doc) => [doc.start.getTime(), doc]));
  return {
    span,
    periodSeconds: seconds,
    periods: starts.map((start) => {
      const doc = byStart.get(start);
      return { start: new Date(start).toISOString(), ...viewSum(doc ? [doc] : []) };
    }),
    names: Object.entries(Object.groupBy(docs, (doc) => (doc.name === null ? "" : `=${doc.name}`)))
      .filter(([key]) => key !== "")
      .map(([key, own]) => ({ name: key.slice(1), ...viewSum(own ?? []) }))
      .sort((a, b) => jobsIn(b) - jobsIn(a) || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_HISTORY_NAMES),
  };
}

const jobsIn = ({ started, completed, failed }: Figures): number => Math.max(started, completed + failed);

function viewSum(docs: readonly JobFiguresDoc[]): Figures {
  const durations: Record<string, number> = {};
  const sum = { started: 0, completed: 0, failed: 0 };
  for (const doc of docs) {
    addDurations(durations, doc.durations ?? {});
    for (const field of ["started", "completed", "failed"] as const) sum[field] += doc[field];
  }
  return { ...sum, p50Seconds: secondsAt(durations, 0.5), p95Seconds: secondsAt(durations, 0.95) };
}

function secondsAt(durations: Record<string, number>, share: number): number | null {
  const ms = quantile(durations, share);
  return ms === null ? null : Number((ms / 1_000).toPrecision(3));
}
