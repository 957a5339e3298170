import type { ClientContext } from "./clientContext.ts";
import { segment } from "./connection.ts";
import { Reporter } from "./reporter.ts";
import type { Report } from "./reportQueue.ts";

/**
 * What an orchestrator hands to the code that does the work, as plain JSON. It stays the same on retry and recovery, so
 * that every report of the step lands on the same record.
 */
export interface Assignment {
  readonly jobId: string;
  readonly stepKey: string;
  readonly stepName: string;
  /** The share of the job's progress that the step covers, 0–100. */
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
}

/** Reports on one step. Make one for each step, and keep it: what it knows of earlier reports makes it frugal. */
export class StepReporter extends Reporter {
  readonly #assignment: Assignment;

  /** @throws SignalboxError for a jobId or stepKey that no URL can carry */
  constructor(assignment: Assignment, context: ClientContext) {
    const path = `/api/jobs${segment(assignment.jobId)}/steps${segment(assignment.stepKey)}`;
    super(path, context, endsJob(assignment, 100), (report) => toBody(assignment, report));
    this.#assignment = assignment;
  }

  /** For `client.step()` in another process. */
  toJSON(): Assignment {
    return this.#assignment;
  }
}

/** Only a completion may bring the job to 100: without the range nothing is calculated. */
function toBody(assignment: Assignment, report: Report): object {
  const { stepName, jobProgressStart, jobProgressEnd } = assignment;
  const { status, progress } = report;
  const isEarly = status !== "completed" && endsJob(assignment, progress);
  return { stepName, ...(progress !== undefined && !isEarly && { jobProgressStart, jobProgressEnd }), ...report };
}

/** As the service calculates it, which is not at all without a range. */
function endsJob(
  { jobProgressStart: start = Number.NaN, jobProgressEnd: end = Number.NaN }: Assignment,
  progress = 0,
): boolean {
  return Math.round((start + (progress / 100) * (end - start)) * 1e9) / 1e9 >= 100;
}
