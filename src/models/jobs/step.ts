import type { mongo } from "mongoose";
import type { FreeObject } from "./freeObject.ts";
import type { PayloadRef } from "./payloads.ts";

/** A step, as its job's document holds it. */
export interface StepDoc {
  stepId: string;
  stepKey: string;
  stepName: string;
  status: "running" | "completed" | "failed";
  progress: number;
  message: string | null;
  output: PayloadRef | null;
  createdAt: Date;
  updatedAt: Date;
  startedAt: Date;
  endedAt: Date | null;
  attempts: number;
  /** The job's `seq` after the last report on this step. */
  seq: number;
  /** The last report on this step; missing where an earlier version wrote it. */
  reportId?: mongo.ObjectId;
}

/** The name of a step's field in `steps`: `.` and `$` have a meaning in MongoDB's paths, and `%` in this encoding. */
export const stepField = (stepKey: string): string =>
  stepKey.replace(/[%.$]/g, encodeURIComponent).replaceAll(".", "%2E");

/** What the answer to a report shows of its step. Times are ISO 8601 UTC in milliseconds. */
export interface StepReceipt {
  stepId: string;
  jobId: string;
  stepKey: string;
  stepName: string;
  status: StepDoc["status"];
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  startedAt: string;
}

/** The step without its output, as `currentStep` shows it. */
export interface StepSummary extends StepReceipt {
  attempts: number;
  lastReportAt: string;
  stale: boolean;
}

export interface StepView extends StepSummary {
  output: FreeObject | null;
}

/** One step read on its own; durationMs once it is completed. */
export interface SingleStepView extends StepView {
  durationMs?: number;
}

export function stepReceipt(jobId: string, step: StepDoc): StepReceipt {
  return {
    stepId: step.stepId,
    jobId,
    stepKey: step.stepKey,
    stepName: step.stepName,
    status: step.status,
    progress: step.progress,
    message: step.message,
    createdAt: step.createdAt.toISOString(),
    updatedAt: step.updatedAt.toISOString(),
    startedAt: step.startedAt.toISOString(),
  };
}

/** @param staleAfterMs how long a running step may go without a report */
export function stepSummary(jobId: string, step: StepDoc, now: Date, staleAfterMs: number): StepSummary {
  const silentMs = now.getTime() - step.updatedAt.getTime();
  return {
    ...stepReceipt(jobId, step),
    attempts: step.attempts,
    lastReportAt: step.updatedAt.toISOString(),
    stale: step.status === "running" && silentMs >= staleAfterMs,
  };
}

/** Adds the duration of a completed step to its view. */
export function singleStep(view: StepView, { status, endedAt, updatedAt, startedAt }: StepDoc): SingleStepView {
  if (status !== "completed") return view;
  return { ...view, durationMs: Math.max(0, (endedAt ?? updatedAt).getTime() - startedAt.getTime()) };
}
