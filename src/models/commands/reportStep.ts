import { AppError } from "../../shared/errors.ts";
import type { FreeObject } from "../freeObject.ts";
import type { JobEffect, Status } from "../job.ts";
import { calculateJobProgress } from "../progress.ts";
import type { StepChange, StepReceipt } from "../step.ts";
import type { Stores } from "../stores.ts";

/** One report: what it says of the step, where the step lies in the job, and whether its failure fails the job. */
export interface StepReport extends StepChange {
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
  readonly failJob?: boolean | undefined;
}

/**
 * Writes the step, then what it means for the job. A process that dies between the two leaves nothing that the same
 * report, sent again, does not put right.
 * @returns the step as the reporter sees it, whether it is new, and the status that the job ended in, if it did by this
 * @throws AppError output_required, job_not_found, invalid_body (a new step without stepName), unavailable
 */
export async function reportStep(
  { jobs, steps }: Stores,
  jobId: string,
  stepKey: string,
  report: StepReport,
): Promise<{ created: boolean; step: StepReceipt; ended: Status | null }> {
  const effect = effectOn(report);
  const job = { _id: await jobs.findId(jobId), jobId };
  const { created, step } = await steps.report(job, stepKey, report);
  // A failed job takes the step's message, also one that an earlier report left there.
  const message = report.message ?? (effect.ends?.status === "failed" ? (step.message ?? undefined) : undefined);
  const { ended } = await jobs.applyReport(jobId, job._id, { ...effect, message });
  return { created, step: steps.receipt(step), ended };
}

function effectOn(report: StepReport): JobEffect {
  const progress = calculateJobProgress(report);
  if (report.status === "failed") {
    // A failed report never brings the job to 100, whatever it calculates.
    return {
      progress: progress !== undefined && progress < 100 ? progress : undefined,
      ends: report.failJob ? { status: "failed" } : undefined,
    };
  }
  if (progress === undefined || progress < 100) return { progress };
  return { progress: 100, ends: { status: "completed", output: required(report.output) } };
}

function required(output: FreeObject | undefined): FreeObject {
  if (output) return output;
  const detail = "is required: this report brings the job to 100 %, so it must carry the job's output, an object";
  throw new AppError("output_required", { detail: `output ${detail}.`, errors: [{ pointer: "/output", detail }] });
}
