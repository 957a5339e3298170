import { type Agents, agentSettings } from "../../config/agents/agents.ts";
import { jobTrace } from "../../models/jobs/job.ts";
import { readAttempts } from "../../models/jobs/read/stepAttempts.ts";
import type { NotedRecord } from "../../models/notifications/outbox.ts";
import type { SpanDoc } from "../../models/notifications/spans.ts";
import type { RunDoc } from "../../models/runs/run.ts";
import type { Stores } from "../../models/stores.ts";
import { SUBJECTS } from "../../shared/notifications/subjects.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Entry } from "../notify/notification.ts";
import { jobSpans } from "./jobSpans.ts";
import { runSpans, type TracedJob, traceOf } from "./runSpans.ts";
import { type SpanFields, spanJson } from "./span.ts";

export interface TraceDeps {
  readonly stores: Stores;
  readonly metrics: WorkerMetrics;
  readonly publicUrl: string | undefined;
  /** The address of the service for programs on this machine. */
  readonly url: string;
  readonly agents: Agents;
}

/** Maximum spans of one trace. Those of the last steps are dropped. */
const MAX_SPANS = 20_000;
/** Maximum spans of a record. */
const RECORD_SPANS = 500;
/** Characters of records that are stored together. */
const MAX_PENDING_CHARS = 4 * 1024 * 1024;

const ENDS: readonly string[] = ["job.completed", "job.failed", "run.completed", "run.failed"];

interface JobEntry extends Entry {
  readonly record: Extract<NotedRecord, { kind: "job" }>;
}
interface RunEntry extends Entry {
  readonly record: Extract<NotedRecord, { kind: "run" }>;
}

/**
 * Stores the spans of the jobs and agent runs that have ended, to be sent by the next request. It may run twice for the same
 * notifications: ids of spans are derived from what they are of.
 * @returns the errors of the entries that failed, which delay no others
 * @throws AppError unavailable
 */
export async function addTraces(deps: TraceDeps, entries: readonly Entry[]): Promise<ReadonlyMap<Entry, unknown>> {
  const ended = entries.filter(({ note }) => ENDS.includes(note.type));
  const writer = new SpanWriter(deps);
  await addJobs(
    deps,
    ended.filter((entry): entry is JobEntry => entry.record.kind === "job"),
    writer,
  );
  await addRuns(
    deps,
    ended.filter((entry): entry is RunEntry => entry.record.kind === "run"),
    writer,
  );
  await writer.flush();
  return writer.failed;
}

async function addJobs(deps: TraceDeps, entries: readonly JobEntry[], writer: SpanWriter): Promise<void> {
  const sampled = entries.filter(({ record }) => jobTrace(record.job).isSampled);
  const byId = Map.groupBy(sampled, ({ record }) => record.job._id.toHexString());
  const add = (entry: JobEntry, steps: Parameters<typeof jobSpans>[1]) => {
    const { record, note } = entry;
    const job = { ...record.job, ...note.was };
    const url = addressOf(deps, SUBJECTS.job.path({ job } as never));
    return writer.add(entry, () => jobSpans({ job, end: note.at, url }, steps));
  };
  const present = sampled.flatMap(({ record: { job, isDeleted } }) => (isDeleted ? [] : [job]));
  if (present.length > 0) {
    for await (const { _id, steps } of readAttempts(deps.stores.jobs.collection, present)) {
      const id = _id.toHexString();
      for (const entry of byId.get(id) ?? []) await add(entry, steps);
      byId.delete(id);
    }
  }
  // The steps of a deleted job are gone.
  for (const entry of [...byId.values()].flat()) await add(entry, []);
}

async function addRuns(deps: TraceDeps, entries: readonly RunEntry[], writer: SpanWriter): Promise<void> {
  // A run that was started again meanwhile no longer has what its end had.
  const isSame = ({ record: { run }, note }: RunEntry) => run.endedAt?.getTime() === note.at.getTime();
  const turns = entries.filter(({ record }) => record.run.request !== null);
  writer.drop(turns.filter((entry) => !isSame(entry)).length);
  const jobs = await readJobsOf(
    deps.stores,
    turns.map(({ record }) => record.run),
  );
  for (const entry of turns.filter(isSame)) {
    const { run } = entry.record;
    const job = jobs.get(run._id);
    if (!traceOf(run, job).isSampled) continue;
    const { runner, model } = agentSettings(deps.agents, run.request?.agentId ?? null) ?? deps.agents.defaults;
    const url = addressOf(deps, SUBJECTS.run.path({ run: { runId: run._id } } as never));
    await writer.add(entry, () => runSpans({ run, job, end: entry.note.at, url, runner, model }));
  }
}

/** Reads the jobs that show runs, by the ids of the runs. */
async function readJobsOf({ jobs }: Stores, runs: readonly RunDoc[]): Promise<Map<string, TracedJob>> {
  const shown = runs.filter(({ tracked }) => tracked).map(({ _id }) => _id);
  if (shown.length === 0) return new Map();
  const projection = { jobId: 1, createdAt: 1, startedAt: 1, traceparent: 1 };
  const found = await jobs.collection.find<TracedJob>({ jobId: { $in: shown } }, { projection });
  return new Map(found.map((job) => [job.jobId, job]));
}

const addressOf = ({ publicUrl, url }: TraceDeps, path: string): string => (publicUrl ?? url) + path;

/** Stores spans in records of limited size. */
class SpanWriter {
  readonly failed = new Map<Entry, unknown>();
  readonly #deps: TraceDeps;
  #pending: Omit<SpanDoc, "at">[] = [];
  #chars = 0;

  constructor(deps: TraceDeps) {
    this.#deps = deps;
  }

  drop(count: number): void {
    this.#deps.metrics.otelSpans.inc({ outcome: "dropped" }, count);
  }

  /** Adds the spans of an entry. An error of `spans` is the entry's. @throws AppError unavailable */
  async add(entry: Entry, spans: () => Iterable<SpanFields>): Promise<void> {
    const records: Omit<SpanDoc, "at">[] = [];
    let texts: string[] = [];
    let total = 0;
    const close = () => {
      if (texts.length > 0)
        records.push({ _id: `${entry.note.id}-${records.length}`, count: texts.length, json: texts.join(",") });
      texts = [];
    };
    try {
      for (const span of spans()) {
        if (++total > MAX_SPANS) continue;
        texts.push(spanJson(span));
        if (texts.length === RECORD_SPANS) close();
      }
      close();
    } catch (error) {
      this.failed.set(entry, error);
      return;
    }
    this.drop(Math.max(0, total - MAX_SPANS));
    this.#pending.push(...records);
    this.#chars += records.reduce((sum, { json }) => sum + json.length, 0);
    if (this.#chars >= MAX_PENDING_CHARS) await this.flush();
  }

  async flush(): Promise<void> {
    const records = this.#pending;
    this.#pending = [];
    this.#chars = 0;
    this.drop(await this.#deps.stores.spans.add(records));
  }
}
