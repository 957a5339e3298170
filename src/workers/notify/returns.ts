import { returnSentence, returnText, SEVERAL } from "../../agents/prompt/returnPrompt.ts";
import type { Config } from "../../config/config.ts";
import { readLastLines } from "../../models/jobs/log/readLog.ts";
import { isStored } from "../../models/jobs/payloads/payloads.ts";
import { unpackPayload } from "../../models/jobs/read/viewJobs.ts";
import type { NotedRecord } from "../../models/notifications/outbox.ts";
import { addReturn, type Return } from "../../models/runs/returnRuns.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { type AnyNotificationType, subjectPath } from "../../shared/notifications/catalogue.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Entry } from "./notification.ts";

/** The stores and settings of the runs by which jobs wake sessions. */
export interface ReturnDeps {
  readonly stores: Stores;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  readonly publicUrl: string | undefined;
  /** The address of the service for programs on this machine. */
  readonly url: string;
  /** `agents.returns.gather` in milliseconds. */
  readonly gatherMs: number;
  /** The time without a report after which a job is stale that has none of its own. */
  readonly staleAfterSeconds: number;
  readonly agent: Pick<Config["agents"]["defaults"], "timeoutSeconds" | "trackAsJob">;
  /** Puts a run on its queue, for a time from now. */
  startRun(runId: string, delayMs: number): Promise<void>;
}

/** Number of the last lines of a job's log in a prompt. */
const LOG_LINES = 20;

type JobRecord = Extract<NotedRecord, { kind: "job" }>;

const EVENTS: Partial<Record<AnyNotificationType, Return["event"]>> = {
  "job.completed": "completed",
  "job.failed": "failed",
  "job.stale": "stale",
  "gate.answered": "gate",
  "gate.expired": "gate",
};

/**
 * Adds the runs by which transitions of jobs wake sessions. Those of one session follow each other, so that
 * they gather in few runs.
 * @returns the errors of the entries that failed, which delay no others
 * @throws AppError unavailable
 */
export async function addReturns(deps: ReturnDeps, entries: readonly Entry[]): Promise<ReadonlyMap<Entry, unknown>> {
  const failed = new Map<Entry, unknown>();
  const sessions = Map.groupBy(
    entries.filter(({ note }) => note.returnTo !== undefined),
    ({ note }) => note.returnTo?.sessionKey,
  );
  const add = async (entry: Entry) => {
    try {
      await addOne(deps, entry);
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") throw error;
      failed.set(entry, error);
    }
  };
  await Promise.all(
    [...sessions.values()].map(async (own) => {
      for (const entry of own) await add(entry);
    }),
  );
  return failed;
}

async function addOne(deps: ReturnDeps, entry: Entry): Promise<void> {
  const { stores, clock, metrics, log, gatherMs } = deps;
  const { record, note } = entry;
  const event = EVENTS[note.type];
  if (record.kind !== "job" || !note.returnTo || event === undefined) return;
  const { jobId, _id, staleAfterSeconds } = record.job;
  const internalId = _id.toHexString();
  const returned: Return = {
    to: note.returnTo,
    id: note.id,
    jobId,
    internalId,
    event,
    at: note.at,
    title: record.job.name ?? jobId,
    sentence: returnSentence(event, staleAfterSeconds ?? deps.staleAfterSeconds),
    text: await textOf(deps, entry, record),
  };
  const { timeoutSeconds, trackAsJob } = deps.agent;
  const defaults = { model: null, thinking: null, timeoutSeconds, trackAsJob };
  const added = await addReturn(stores, returned, { gatherMs, several: SEVERAL, defaults, now: clock.now() });
  if (added?.isNew) await deps.startRun(added.runId, gatherMs);
  metrics.returns.inc({ outcome: added ? (added.isNew ? "started" : "gathered") : "dropped" });
  if (!added) log.warn({ job: jobId, event }, "a job wakes a session that no longer exists");
  await stores.jobs.addReturn({ jobId, internalId }, { id: note.id, event, runId: added?.runId ?? null, at: note.at });
}

async function textOf(deps: ReturnDeps, { note, notification }: Entry, record: JobRecord): Promise<string> {
  const { type, data } = notification;
  const { job, gate } = data;
  if (!job) throw new Error("the notification of a job has no job");
  const [output, lines] = await Promise.all([
    readOutput(deps.stores, record),
    readLastLines(deps.stores.logs, record.job._id, LOG_LINES),
  ]);
  return returnText({
    title: job.name ?? job.jobId,
    jobId: job.jobId,
    status: job.status,
    durationMs: note.at.getTime() - Date.parse(job.createdAt),
    message: job.message ?? data.reason ?? null,
    question: gate
      ? { title: gate.title, action: gate.action, answeredBy: gate.answeredBy, content: gate.content }
      : null,
    output,
    log: lines.map(({ text }) => text),
    link: (deps.publicUrl ?? deps.url) + subjectPath(type, data),
  });
}

/** Reads the output of a job; null if it has none, or a later report has replaced it. */
async function readOutput(stores: Stores, record: JobRecord): Promise<object | null> {
  const output = (await stores.outbox.readPayloads(record))?.output;
  const texts = await stores.payloads.read(isStored(output) ? [{ jobId: record.job.jobId, ref: output }] : []);
  return unpackPayload(output, texts) ?? null;
}
