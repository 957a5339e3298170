import { randomUUID } from "node:crypto";
import { mongo } from "mongoose";
import { AppError, ignore } from "../../../shared/errors.ts";
import type { StepReceipt } from "../../../wire/step.ts";
import { type FreeObject, packObject } from "../freeObject.ts";
import type { Status } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import type { LogLines } from "../log/logLine.ts";
import { type Payload, PayloadWrites } from "../payloads/payloads.ts";
import { stepReceipt } from "../step.ts";
import type { ReportChange } from "./reportUpdate.ts";

/** A report on a step, with the range of the job's progress that the step covers. */
export interface StepReport
  extends Pick<
    ReportChange,
    "stepName" | "status" | "progress" | "message" | "links" | "order" | "at" | "countsSteps"
  > {
  readonly output?: FreeObject | undefined;
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
  /** Whether the step's failure fails the job too. */
  readonly failJob?: boolean | undefined;
  /** Lines for the log of the step. */
  readonly log?: LogLines | undefined;
}

/**
 * Applies a report to a step and its job, in one batch with concurrent reports, and adds its lines to the log of the step.
 * @returns the step as the reporter reads it, whether it is new, the job's final status if the report ended the job, and whether
 *   the report set the status: an event that comes late does not
 * @throws AppError output_required, body_too_large, job_not_found, invalid_body (a new step without stepName),
 *   too_many_steps, unavailable
 */
export async function reportStep(
  { reports, logs }: JobStores,
  jobId: string,
  stepKey: string,
  report: StepReport,
): Promise<{ created: boolean; step: StepReceipt; ended: Status | null; isNewest: boolean }> {
  const output = report.output ? (packObject("output", report.output) ?? undefined) : undefined;
  const { stepName, status, progress, message, links, order, at, countsSteps } = report;
  const writes = new PayloadWrites();
  const effect = effectOnJob(report, output, (text) => writes.keep(jobId, text));
  const { log } = report;
  // Before the report, because what follows from the end of a job shows its last lines.
  const isLogged = log && (await logs.appendEarly(jobId, stepKey, log, stepName !== undefined));
  const reportId = new mongo.ObjectId();
  const { job, created, step, ended, cancelRequested } = await reports.add({
    reportId,
    jobId,
    stepKey,
    stepId: randomUUID(),
    stepName,
    status,
    progress,
    message,
    links,
    order,
    at,
    countsSteps,
    ...(output !== undefined && { output: writes.store(jobId, output) }),
    ...effect,
    payloads: writes.docs,
  });
  if (log && !isLogged) await logs.appendTo({ job, jobId, stepKey }, log);
  const receipt = { ...stepReceipt(jobId, step), ...(cancelRequested && { cancelRequested }) };
  return { created, step: receipt, ended, isNewest: step.reportId.equals(reportId) };
}

/** Sends a report, and if its job does not exist, sends it again after `create`. @throws what `send` and `create` throw */
export async function reportOrCreate<T>(send: () => Promise<T>, create: () => Promise<unknown>): Promise<T> {
  const sent = await send().catch(ignore("job_not_found"));
  if (sent !== undefined) return sent;
  await create();
  return send();
}

/**
 * Returns what a report changes of its job.
 * @param keep stores the output as the job's own
 */
function effectOnJob(
  report: StepReport,
  output: string | undefined,
  keep: (output: string) => Payload,
): Pick<ReportChange, "jobProgress" | "ends"> {
  const progress = calculateJobProgress(report);
  if (report.status === "failed") {
    // A failed report never brings the job to 100, whatever it calculates.
    return {
      jobProgress: progress !== undefined && progress < 100 ? progress : undefined,
      ends: report.failJob ? { status: "failed" } : undefined,
    };
  }
  if (progress === undefined || progress < 100) return { jobProgress: progress };
  return { jobProgress: 100, ends: { status: "completed", output: keep(requireOutput(output)) } };
}

function requireOutput(output: string | undefined): string {
  if (output !== undefined) return output;
  const detail = "is required in the report that brings the job to 100: send the job's result as an object";
  throw new AppError("output_required", { detail: `output ${detail}.`, errors: [{ pointer: "/output", detail }] });
}

/** The numbers of a report: the step's own progress, and the range of the job's progress that the step covers, each 0–100. */
export interface ReportedProgress {
  readonly progress?: number | undefined;
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
}

/**
 * Returns the job's progress after a report, 0–100, or undefined if one of the three numbers is missing. The result is rounded to
 * nine decimals, so that floating point never decides whether 100 is reached: 33.3 + 100/100 × 66.7 is 100.
 */
export function calculateJobProgress(report: ReportedProgress): number | undefined {
  const { progress, jobProgressStart: start, jobProgressEnd: end } = report;
  if (progress === undefined || start === undefined || end === undefined) return undefined;
  return Math.round((start + (progress / 100) * (end - start)) * 1e9) / 1e9;
}
