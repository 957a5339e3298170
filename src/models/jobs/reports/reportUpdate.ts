import type { mongo } from "mongoose";
import type { Link } from "../../../wire/link.ts";
import type { WantedNotifications } from "../../notes/wantedNotifications.ts";
import type { JobDoc, Status } from "../job.ts";
import { endedBy, noteFields } from "../jobNotes.ts";
import { changedAt, timeStages } from "../jobTimes.ts";
import { inOrder, isNewer, maySetMessage } from "../order.ts";
import type { Payload, PayloadDoc, PayloadRef } from "../payloads/payloads.ts";
import { FAILED_WORDS, failedWordsIn } from "../search/failedWords.ts";
import { stepField } from "../step.ts";
import { failedAttempts } from "./failedAttempts.ts";
import { changedCounts, STEPS_ENDED } from "./stepCounts.ts";

/** A validated report: what it changes of its step and its job. An undefined field stays unchanged. */
export interface ReportChange {
  readonly reportId: mongo.ObjectId;
  readonly jobId: string;
  readonly stepKey: string;
  /** The id of the step if this report creates it. */
  readonly stepId: string;
  readonly stepName?: string | undefined;
  readonly status?: Status | undefined;
  readonly progress?: number | undefined;
  readonly message?: string | undefined;
  readonly output?: PayloadRef | undefined;
  /** The links of the step; an empty list removes them. */
  readonly links?: readonly Link[] | undefined;
  /** The place of the event among those of the step and the job: see order.ts. Without it the report takes effect as it arrives. */
  readonly order?: number | undefined;
  /** The sender's time of the event; without it the time of arrival. */
  readonly at?: Date | undefined;
  /** Whether the progress of the job is that share of its steps that have ended, and less than 100. */
  readonly countsSteps?: boolean | undefined;
  /** The job's new progress, if the report changes it. */
  readonly jobProgress?: number | undefined;
  /** Set if the report ends the job. */
  readonly ends?:
    | { readonly status: "completed"; readonly output: Payload }
    | { readonly status: "failed" }
    | undefined;
}

/** A report with the payloads that must be written for it. */
export interface Report extends ReportChange {
  readonly payloads: readonly PayloadDoc[];
}

/**
 * Maximum size of a job's document for which a report may create another step, in bytes. The steps of one job may take 12 MB
 * (contract); the rest of the document takes up to half a MiB, and for moments its notes as much. MongoDB's limit is 16 MiB.
 */
const MAX_JOB_BYTES = 12 * 1024 * 1024;

/** The code with which MongoDB rejects an update by `ifRoom`: "$bsonSize requires a document input". */
export const NO_ROOM = 31393;

/** Returns the path of a step in its job's document. */
export const stepPath = (stepKey: string): string => `steps.${stepField(stepKey)}`;

/** Returns a query that matches the job of a report. A report without a stepName also needs an existing step. */
export const reportFilter = ({ jobId, stepKey, stepName }: ReportChange): mongo.Filter<JobDoc> =>
  stepName === undefined ? { jobId, [stepPath(stepKey)]: { $exists: true } } : { jobId };

interface UpdateSettings {
  readonly staleAfterSeconds: number;
  readonly wanted: WantedNotifications;
  /** Whether an earlier report of the same batch has an output: what it replaced is kept. */
  readonly addsReplaced: boolean;
}

/** The expression for the `seq` of a job and of the step after a report. */
const NEXT_SEQ = { $add: ["$seq", 1] };

/**
 * Returns the update of a job's document that applies a report to the step, the job, and the copy of the current step. The update
 * computes all values from the stored document, so that concurrent reports of any number of processes take effect one after the
 * other. A report of 40 % on the step `fetch` becomes, in short:
 *
 *     [
 *       { $set: { seq: { $add: ["$seq", 1] }, lastReportAt: now,
 *                 "steps.fetch": { $mergeObjects: [A_NEW_STEP, "$steps.fetch", { progress: 40, updatedAt: now, seq }] } } },
 *       { $set: { current: { $cond: [{ $eq: ["$steps.fetch.status", "running"] }, "$steps.fetch", "$current"] },
 *                 staleAt: { $add: ["$lastReportAt", 900_000] } } },
 *       { $set: { staleMinute: truncated staleAt } },
 *     ]
 *
 * Each stage reads what the one before it has set: the copy of the current step needs the step, and the minute needs the time.
 * MongoDB takes longer to parse an update than to apply it, so each expression that a report does not need is left out.
 */
export function reportUpdate(
  report: ReportChange,
  now: Date,
  { staleAfterSeconds, wanted, addsReplaced }: UpdateSettings,
): mongo.Document[] {
  const path = stepPath(report.stepKey);
  const step = `$${path}`;
  const { ends, order, message, reportId, stepName, countsSteps } = report;
  // Such a report may leave a stored status or message as it is, so that the words are derived in a stage after them.
  const wordsComeLast = ends !== undefined || order !== undefined;
  const changed = { $mergeObjects: [newStep(report, now), step, ...changedStep(report, step, now)] };
  return [
    {
      $set: {
        seq: NEXT_SEQ,
        ...changedAt(now),
        lastReportAt: { $max: ["$lastReportAt", now] },
        ...changedJob(report, now, addsReplaced),
        ...(!wordsComeLast && message !== undefined && { failedWords: failedWordsIn(message) }),
        stepCounts: changedCounts(report, step),
        [path]: stepName === undefined ? changed : ifRoom(step, changed),
      },
    },
    ...(countsSteps ? [{ $set: { progress: { $max: ["$progress", STEPS_ENDED] } } }] : []),
    ...timeStages(staleAfterSeconds, {
      first: { current: newCurrent(report, step), ...failedMessage(report, step) },
      last: {
        ...(wordsComeLast && { failedWords: FAILED_WORDS }),
        ...noteFields({ id: reportId, ends: ends?.status, isReport: true }, wanted, now),
      },
    }),
  ];
}

/**
 * Returns an expression for a changed step that makes the whole update fail with NO_ROOM if the step is new and the document has
 * no room for it. As a condition of the filter it would cost MongoDB a fifth of the update.
 */
const ifRoom = (step: string, changed: mongo.Document): mongo.Document => ({
  $cond: [{ $or: [step, { $lt: [{ $bsonSize: "$$ROOT" }, MAX_JOB_BYTES] }] }, changed, { $bsonSize: "$jobId" }],
});

/** Returns a step before its first report. */
function newStep({ stepId, stepKey, at }: ReportChange, now: Date): mongo.Document {
  return {
    $literal: {
      stepId,
      stepKey,
      stepName: "",
      status: "running",
      progress: 0,
      message: null,
      output: null,
      createdAt: now,
      updatedAt: now,
      startedAt: at ?? now,
      endedAt: null,
      attempts: 1,
      seq: 0,
    },
  };
}

/** Returns the objects with the changed fields of a step, in the order in which they are merged. */
function changedStep(report: ReportChange, step: string, now: Date): mongo.Document[] {
  const { stepName, status, progress, message, output, links, reportId, order } = report;
  if (order !== undefined) return [orderedStep(report, step, order, now)];
  const isRestart = { $in: [`${step}.status`, ["completed", "failed"]] };
  const restart = { attempts: { $add: [`${step}.attempts`, 1] }, startedAt: now };
  const changed = {
    reportId,
    seq: NEXT_SEQ,
    updatedAt: { $max: [`${step}.updatedAt`, now] },
    ...(stepName !== undefined && { stepName: { $literal: stepName } }),
    ...(progress !== undefined && { progress: { $literal: progress } }),
    ...(message !== undefined && { message: { $literal: message } }),
    ...(output !== undefined && { output: { $literal: output } }),
    ...(links !== undefined && { links: { $literal: links } }),
    ...(status !== undefined && { status, endedAt: endedAt(status, step, now) }),
    ...(status === "failed" && {
      failedAttempts: failedAttempts(step, {
        message,
        now,
        maxBytes: MAX_JOB_BYTES,
        endedAt: endedAt(status, step, now),
      }),
    }),
  };
  return status === "running" ? [changed, { $cond: [isRestart, restart, {}] }] : [changed];
}

/**
 * Returns the change of a step by an event with an order. The beginning of a step, its name, progress and links count whenever
 * the event arrives; its message and status only if no newer event has set them. `completed` of order 7 becomes, in short:
 *
 *     { $mergeObjects: [
 *       { seq, updatedAt: now, startedAt: { $min: ["$steps.fetch.startedAt", at] } },
 *       { $cond: [{ $gt: [7, "$steps.fetch.order"] }, { order: 7, status: "completed", endedAt: at }, {}] },
 *     ] }
 *
 * A step that events begin again is not another attempt, because the events may only have arrived in this order.
 */
function orderedStep(report: ReportChange, step: string, order: number, now: Date): mongo.Document {
  const { stepName, status, progress, message, output, links, reportId, at = now } = report;
  const state = {
    reportId,
    order,
    status,
    endedAt: status === "running" ? null : at,
    ...(output !== undefined && { output: { $literal: output } }),
  };
  const withMessage = { message: { $literal: message }, messageOrder: order };
  return {
    $mergeObjects: [
      {
        reportId: { $ifNull: [`${step}.reportId`, reportId] },
        seq: NEXT_SEQ,
        updatedAt: { $max: [`${step}.updatedAt`, now] },
        startedAt: { $min: [`${step}.startedAt`, at] },
        ...(stepName !== undefined && { stepName: { $literal: stepName } }),
        ...(progress !== undefined && { progress: { $max: [`${step}.progress`, progress] } }),
        ...(links !== undefined && { links: { $literal: links } }),
      },
      ...(message === undefined ? [] : [{ $cond: [maySetMessage(step, order), withMessage, {}] }]),
      ...(status === undefined ? [] : [{ $cond: [isNewer(step, order), state, {}] }]),
    ],
  };
}

/** Returns the fields of the job that a report changes. */
function changedJob(
  { message, jobProgress, output, ends, reportId, stepKey, order }: ReportChange,
  now: Date,
  addsReplaced: boolean,
): mongo.Document {
  const step = `$${stepPath(stepKey)}`;
  const unlessLate = (record: string, id: string) =>
    order === undefined ? id : { $cond: [isNewer(record, order), id, null] };
  const replacedNow = [
    unlessLate(step, `${step}.output.payload`),
    ...(ends?.status === "completed" ? [unlessLate("$$ROOT", "$output.payload")] : []),
  ];
  const replaced = addsReplaced ? { $concatArrays: [{ $ifNull: ["$replaced", []] }, replacedNow] } : replacedNow;
  const fields = {
    ...(message !== undefined && { message: { $literal: message } }),
    ...(jobProgress !== undefined && { progress: { $max: ["$progress", jobProgress] } }),
    ...(ends && {
      ...jobStatus(ends.status, now),
      ...endedBy(ends.status, reportId),
    }),
    ...(ends?.status === "completed" && { output: { $literal: ends.output } }),
  };
  return {
    ...inOrder({ order, status: ends?.status, message }, fields),
    ...(output !== undefined && { replaced: { $setDifference: [replaced, [null]] } }),
  };
}

const IS_RUNNING = { $eq: ["$$this.v.status", "running"] };
const IS_NEWER = { $gt: ["$$this.v.seq", { $ifNull: ["$$value.seq", -1] }] };

/** The expression for the running step with the newest report, or null if no step is running. */
const LAST_REPORTED = {
  $reduce: {
    input: { $objectToArray: "$steps" },
    initialValue: null,
    in: { $cond: [{ $and: [IS_RUNNING, IS_NEWER] }, "$$this.v", "$$value"] },
  },
};

/** Returns the expression for the copy of the current step, from the step as the first stage leaves it. */
function newCurrent({ status, stepKey, order }: ReportChange, step: string): string | mongo.Document {
  const isCurrent = { $eq: ["$current.stepKey", { $literal: stepKey }] };
  const ifNotRunning = { $cond: [isCurrent, LAST_REPORTED, "$current"] };
  if (order === undefined && status !== undefined) return status === "running" ? step : ifNotRunning;
  // A step that has ended is not the current one, and a report without a status does not change that.
  return { $cond: [{ $eq: [`${step}.status`, "running"] }, step, order === undefined ? "$current" : ifNotRunning] };
}

/** Returns the field with the message of a failed job, which takes over that of its step, also of an earlier report. */
function failedMessage({ message, ends, order, reportId }: ReportChange, step: string): mongo.Document {
  if (ends?.status !== "failed" || message !== undefined) return {};
  const stepMessage = { $ifNull: [`${step}.message`, "$message"] };
  if (order === undefined) return { message: stepMessage };
  return { message: { $cond: [{ $eq: ["$endedBy", reportId] }, stepMessage, "$message"] } };
}

/** Returns the fields that give a job a status. Every update that may end a job uses them. */
export const jobStatus = (status: Status, now: Date): mongo.Document => ({
  status,
  endedAt: endedAt(status, "$$ROOT", now),
});

/**
 * Returns the expression for the end of a step or a job. A status that is reported again keeps the time of its first report.
 * @param record the path of the step or the job
 */
function endedAt(status: Status, record: string, now: Date): unknown {
  if (status === "running") return null;
  return { $cond: [{ $eq: [`${record}.status`, status] }, { $ifNull: [`${record}.endedAt`, now] }, now] };
}
