import { viewDelivery } from "../../models/deliveries/readDeliveries.ts";
import type { AnswerLinks } from "../../models/gates/answerLinks.ts";
import { readLastLines } from "../../models/jobs/log/readLog.ts";
import type { PayloadField } from "../../models/jobs/payloads/payloadFields.ts";
import { viewJobs } from "../../models/jobs/read/viewJobs.ts";
import { hasTerm } from "../../models/jobs/search/jobFilter.ts";
import type { Note } from "../../models/notes/note.ts";
import type { NotedJob, NotedRecord } from "../../models/notifications/outbox.ts";
import { runHead } from "../../models/runs/readRuns.ts";
import { ownWords, type RunDoc } from "../../models/runs/run.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import type { AnyNotificationType } from "../../shared/notifications/catalogue.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { Delivery } from "../../wire/delivery.ts";
import type { Gate } from "../../wire/gate.ts";
import type { JobView } from "../../wire/job.ts";
import type { RunHead } from "../../wire/runs/run.ts";
import type { NotificationFacts } from "./rule.ts";

/** A job as the data of notifications contains it: a list row without the parts that `include` adds. */
export type JobRow = Omit<JobView, PayloadField>;

/** A notification as receivers read it, with what rules compare. Times are ISO 8601 UTC with milliseconds. */
export interface Notification {
  readonly id: string;
  readonly type: AnyNotificationType;
  readonly at: Date;
  readonly data: NotificationData;
  readonly facts: NotificationFacts;
  /** The subject that repeated notifications share: the name of jobs, a mapping, or a channel. */
  readonly subject: string;
  /** The number of agent turns in a row that notifications have caused before this one. */
  readonly depth: number;
  readonly callbackUrl: string | undefined;
  /** For `gate.opened`: the gate, whose link lets a person answer without a log-in. */
  readonly asks: Parameters<AnswerLinks["seal"]>[0] | undefined;
  /** The rule under test. */
  readonly onlyRule: string | undefined;
}

/** A note, and the notification that was read for it. */
export interface Entry {
  readonly record: NotedRecord;
  readonly note: Note;
  readonly notification: Notification;
}

export interface NotificationData {
  readonly job?: JobRow;
  readonly reason?: string;
  /** The last lines of the logs of a failed job, without colours; missing if it has none. */
  readonly log?: readonly string[];
  readonly lastReportAt?: string | null;
  /** For a slow job: how long it has run, without waiting for gates. */
  readonly elapsedMs?: number;
  readonly usual?: JobView["usual"];
  readonly run?: RunHead;
  readonly delivery?: Omit<Delivery, "preview">;
  /** For `budget.reached`: its id, its period, and what was used of it. */
  readonly budget?: NonNullable<Note["budget"]>;
  readonly gate?: Gate;
  readonly expect?: { readonly id: string; readonly name: string };
  readonly lastSeenAt?: string | null;
  readonly rule?: string;
}

type Described = Pick<Notification, "data" | "facts" | "subject"> & {
  readonly [field in "callbackUrl" | "asks" | "depth"]?: Notification[field] | undefined;
};

/** Returns the notification of a note. @throws AppError unavailable */
export async function readNotification(stores: Stores, record: NotedRecord, note: Note): Promise<Notification> {
  const described = await describe(stores, record, note);
  return {
    callbackUrl: undefined,
    asks: undefined,
    ...described,
    id: note.id,
    type: note.type,
    at: note.at,
    depth: described.depth ?? 0,
    onlyRule: record.kind === "test" ? record.rule : undefined,
  };
}

async function describe(stores: Stores, record: NotedRecord, note: Note): Promise<Described> {
  switch (record.kind) {
    case "job":
      return describeJob(stores, { ...record.job, ...note.was }, note);
    case "run":
      return describeRun({ ...record.run, ...note.was }, note);
    case "delivery": {
      const delivery = { ...record.delivery, ...note.was };
      const { preview: _, ...data } = viewDelivery(delivery);
      const run = delivery.runId === null ? undefined : await findRun(stores, delivery.runId);
      return {
        data: { delivery: data },
        facts: { name: run?.name ?? undefined, mapping: run?.mapped?.mapping },
        subject: delivery.kind === "webhook" ? `webhook ${delivery.to}` : delivery.channel,
        depth: delivery.depth,
      };
    }
    case "expectation": {
      const { _id: id, name } = record.expectation;
      const { lastSeenAt } = (note.was ?? {}) as { lastSeenAt?: Date | null };
      const data = { expect: { id, name }, lastSeenAt: lastSeenAt?.toISOString() ?? null };
      return { data, facts: { name }, subject: name };
    }
    case "test":
      return { data: { rule: record.rule }, facts: {}, subject: record.rule };
  }
}

async function describeJob(stores: Stores, noted: NotedJob, note: Note): Promise<Described> {
  const job = { ...noted, input: null, metadata: null, output: null };
  const [view] = await viewJobs(stores, [job]);
  if (!view) throw new Error("a job without payloads has no view");
  const { input: _, metadata: __, output: ___, ...row } = view;
  const log = note.type === "job.failed" ? await lastLines(stores, noted) : [];
  const gate = note.gate as Gate | undefined;
  const isSilence = note.type === "job.stale" || note.type === "job.recovered";
  const { facts, run } = await jobFacts(stores, job);
  return {
    data: {
      job: row,
      ...(note.reason !== undefined && { reason: note.reason }),
      ...(log.length > 0 && { log }),
      ...(isSilence && { lastReportAt: row.lastReportAt }),
      ...(note.elapsedMs !== undefined && { elapsedMs: note.elapsedMs, usual: row.usual }),
      ...(gate && { gate }),
    },
    facts,
    subject: job.name ?? job.jobId,
    depth: run?.depth ?? job.returnTo?.depth,
    ...(job.callbackUrl !== undefined && isEnd(note.type) && { callbackUrl: job.callbackUrl }),
    ...(gate && note.type === "gate.opened" && { asks: { _id: gate.gateId, job: job._id } }),
  };
}

/** Returns what rules compare of a job, and the run that it shows. @throws AppError unavailable */
export async function jobFacts(
  stores: Stores,
  job: Pick<NotedJob, "jobId" | "name" | "metadataTerms">,
): Promise<{ readonly facts: NotificationFacts; readonly run: RunDoc | undefined }> {
  // A job that shows a run has the run's id, and names it in its metadata.
  const run = hasTerm(job.metadataTerms ?? [], "runId", job.jobId) ? await findRun(stores, job.jobId) : undefined;
  const { jobId, name, metadataTerms } = job;
  return { facts: { name: name ?? undefined, jobId, metadataTerms, mapping: run?.mapped?.mapping }, run };
}

/** The lines of a failed job's logs that alerts carry, and the characters of each. */
const LAST_LINES = 5;
const MAX_LINE_CHARS = 500;

async function lastLines({ logs }: Stores, { _id }: Pick<NotedJob, "_id">): Promise<string[]> {
  const lines = await readLastLines(logs, _id, LAST_LINES);
  return lines.map(({ text }) => sanitizeText(text).slice(0, MAX_LINE_CHARS).toWellFormed());
}

function describeRun(run: RunDoc, { budget }: Note): Described {
  const mapping = run.mapped?.mapping;
  return {
    data: { run: { ...runHead(run), error: run.error && ownWords(run.error) }, ...(budget && { budget }) },
    facts: { name: run.name ?? undefined, mapping },
    subject: mapping ?? run.name ?? "agent",
    depth: run.depth,
    ...(run.callbackUrl !== undefined && !budget && { callbackUrl: run.callbackUrl }),
  };
}

const isEnd = (type: AnyNotificationType): boolean => type === "job.completed" || type === "job.failed";

/** Reads a run, unless it was deleted. */
function findRun({ runs }: Stores, runId: string): Promise<RunDoc | undefined> {
  return runs.find(runId).catch((error) => {
    if (error instanceof AppError && error.code === "run_not_found") return undefined;
    throw error;
  });
}
