import { AppError } from "../../shared/errors.ts";
import { type FreeObject, packObject } from "../freeObject.ts";
import type { JobEffect, Status } from "../job.ts";
import { calculateJobProgress } from "../progress.ts";
import type { StepChange, StepReceipt } from "../step.ts";
import type { Stores } from "../stores.ts";

/** One report: what it says of the step, where the step lies in the job, and whether its failure fails the job. */
export interface StepReport extends Omit<StepChange, "output"> {
  readonly output?: FreeObject | undefined;
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
  readonly failJob?: boolean | undefined;
}

/**
 * Writes the step, then what it means for the job, together with reports that arrive at the same time.
 * @returns the step as the reporter sees it, whether it is new, and the status that the job ended in, if it did by this
 * @throws AppError output_required, body_too_large, job_not_found, invalid_body (a new step without stepName), unavailable
 */
export async function reportStep(
  { reports, steps }: Stores,
  jobId: string,
  stepKey: string,
  report: StepReport,
): Promise<{ created: boolean; step: StepReceipt; ended: Status | null }> {
  const output = report.output ? (packObject("output", report.output) ?? undefined) : undefined;
  const { stepName, status, progress, message } = report;
  const change = { stepName, status, progress, message, output };
  const { created, step, ended } = await reports.add({ jobId, stepKey, change, effect: effectOn(report, output) });
  return { created, step: steps.receipt(step), ended };
}

function effectOn(report: StepReport, output: string | undefined): JobEffect {
  const progress = calculateJobProgress(report);
  if (report.status === "failed") {
    // A failed report never brings the job to 100, whatever it calculates.
    return {
      progress: progress !== undefined && progress < 100 ? progress : undefined,
      ends: report.failJob ? { status: "failed" } : undefined,
    };
  }
  if (progress === undefined || progress < 100) return { progress };
  return { progress: 100, ends: { status: "completed", output: required(output) } };
}

function required(output: string | undefined): string {
  if (output !== undefined) return output;
  const detail = "is required: this report brings the job to 100 %, so it must carry the job's output, an object";
  throw new AppError("output_required", { detail: `output ${detail}.`, errors: [{ pointer: "/output", detail }] });
}
