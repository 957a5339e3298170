import type { mongo } from "mongoose";
import type { WantedNotifications } from "../../notes/wantedNotifications.ts";
import type { JobDoc, Status } from "../job.ts";
import { endedBy, noteFields } from "../jobNotes.ts";
import { timeStages } from "../jobTimes.ts";
import type { Payload, PayloadRef } from "../payloads.ts";
import { stepField } from "../step.ts";
import { failedAttempts } from "./failedAttempts.ts";

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
  /** The job's new progress, if the report changes it. */
  readonly jobProgress?: number | undefined;
  /** Set if the report ends the job. */
  readonly ends?:
    | { readonly status: "completed"; readonly output: Payload }
    | { readonly status: "failed" }
    | undefined;
}

/**
 * Maximum size of a job's document, without its notes, for which a report may create another step, in bytes. The steps of one
 * job may take 12 MB (contract); the rest of the document takes up to half a MiB, and the notes as much. MongoDB's limit is
 * 16 MiB.
 */
const MAX_JOB_BYTES = 12 * 1024 * 1024;

/** Returns the path of a step in its job's document. */
export const stepPath = (stepKey: string): string => `steps.${stepField(stepKey)}`;

/**
 * Returns a query that matches the job if the report can be applied. A report without a stepName needs an existing step, and a
 * new step needs room in the document.
 */
export function reportFilter({ jobId, stepKey, stepName }: ReportChange): mongo.Filter<JobDoc> {
  const exists = { [stepPath(stepKey)]: { $exists: true } };
  if (stepName === undefined) return { jobId, ...exists };
  const notes = { $cond: [{ $isArray: "$notes" }, { $bsonSize: { notes: "$notes" } }, 0] };
  const size = { $subtract: [{ $bsonSize: "$$ROOT" }, notes] };
  return { jobId, $or: [exists, { $expr: { $lt: [size, MAX_JOB_BYTES] } }] };
}

interface UpdateSettings {
  readonly staleAfterSeconds: number;
  readonly wanted: WantedNotifications;
  /** Whether an earlier report of the same batch has an output: what it replaced is kept. */
  readonly addsReplaced: boolean;
}

/**
 * Returns the update of a job's document that applies a report to the step, the job, and the copy of the current step. The update
 * computes all values from the stored document, so that concurrent reports of any number of processes take effect one after the
 * other.
 */
export function reportUpdate(
  report: ReportChange,
  now: Date,
  { staleAfterSeconds, wanted, addsReplaced }: UpdateSettings,
): mongo.Document[] {
  const path = stepPath(report.stepKey);
  const notes = noteFields({ id: report.reportId, ends: report.ends?.status, isReport: true }, wanted, now);
  const seq = { $add: [{ $ifNull: ["$seq", 0] }, 1] };
  return [
    {
      $set: {
        seq,
        updatedAt: { $max: ["$updatedAt", now] },
        lastReportAt: { $max: ["$lastReportAt", now] },
        ...changedJob(report, now, addsReplaced),
        [path]: { $mergeObjects: [newStep(report, now), `$${path}`, changedStep(report, `$${path}`, now), { seq }] },
      },
    },
    { $set: changedCurrent(report, `$${path}`) },
    ...timeStages(staleAfterSeconds, notes),
  ];
}

/** Returns a step before its first report. */
function newStep({ stepId, stepKey }: ReportChange, now: Date): mongo.Document {
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
      startedAt: now,
      endedAt: null,
      attempts: 1,
      seq: 0,
    },
  };
}

function changedStep(report: ReportChange, step: string, now: Date): mongo.Document {
  const { stepName, status, progress, message, output, reportId } = report;
  const isRestart = { $in: [`${step}.status`, ["completed", "failed"]] };
  return {
    reportId,
    updatedAt: { $max: [`${step}.updatedAt`, now] },
    ...(stepName !== undefined && { stepName: { $literal: stepName } }),
    ...(progress !== undefined && { progress: { $literal: progress } }),
    ...(message !== undefined && { message: { $literal: message } }),
    ...(output !== undefined && { output: { $literal: output } }),
    ...(status !== undefined && { status, endedAt: endedAt(status, step, now) }),
    ...(status === "failed" && {
      failedAttempts: failedAttempts(step, {
        message,
        now,
        maxBytes: MAX_JOB_BYTES,
        endedAt: endedAt(status, step, now),
      }),
    }),
    ...(status === "running" && {
      attempts: { $add: [{ $ifNull: [`${step}.attempts`, 1] }, { $cond: [isRestart, 1, 0] }] },
      startedAt: { $cond: [isRestart, now, { $ifNull: [`${step}.startedAt`, now] }] },
    }),
  };
}

function changedJob(
  { message, jobProgress, output, ends, reportId, stepKey }: ReportChange,
  now: Date,
  addsReplaced: boolean,
): mongo.Document {
  const replacedNow = [
    `$${stepPath(stepKey)}.output.payload`,
    ...(ends?.status === "completed" ? ["$output.payload"] : []),
  ];
  const replaced = addsReplaced ? { $concatArrays: [{ $ifNull: ["$replaced", []] }, replacedNow] } : replacedNow;
  return {
    ...(message !== undefined && { message: { $literal: message } }),
    ...(jobProgress !== undefined && { progress: { $max: ["$progress", jobProgress] } }),
    ...(output !== undefined && { replaced: { $setDifference: [replaced, [null]] } }),
    ...(ends && {
      ...jobStatus(ends.status, now),
      ...endedBy(ends.status, reportId),
    }),
    ...(ends?.status === "completed" && { output: { $literal: ends.output } }),
  };
}

/** Returns the fields of the second stage, which depend on the step as the first stage leaves it. */
function changedCurrent({ status, stepKey, message, ends }: ReportChange, step: string): mongo.Document {
  const isCurrent = { $eq: ["$current.stepKey", { $literal: stepKey }] };
  const ifNotRunning = { $cond: [isCurrent, LAST_REPORTED, { $ifNull: ["$current", null] }] };
  return {
    current: status === "running" ? step : { $cond: [{ $eq: [`${step}.status`, "running"] }, step, ifNotRunning] },
    // A failed job takes over the message of its step, also that of an earlier report.
    ...(ends?.status === "failed" &&
      message === undefined && { message: { $ifNull: [`${step}.message`, "$message"] } }),
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
