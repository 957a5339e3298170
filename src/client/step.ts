import type { ClientContext } from "./clientContext.ts";
import { pathSegment } from "./connection.ts";
import { Reporter } from "./reporter.ts";
import { MAX_LOG_CHARS, type Report } from "./reportQueue.ts";

/**
 * The identity of a step, as plain JSON, which an orchestrator passes to the code that does the work. It stays the same
 * after a retry or a recovery, so that every report updates the same record.
 */
export interface Assignment {
  readonly jobId: string;
  readonly stepKey: string;
  readonly stepName: string;
  /** The share of the job's progress that the step covers, 0–100. */
  readonly jobProgressStart?: number | undefined;
  readonly jobProgressEnd?: number | undefined;
}

/** Reports on one step. Keep one instance for each step: it uses earlier reports to leave out redundant requests. */
export class StepReporter extends Reporter {
  readonly #assignment: Assignment;

  /**
   * @param place returns what a progress of this step makes of the job's progress, for a step that shares its range with others
   * @throws SignalboxError for a jobId or stepKey that cannot be part of a URL
   */
  constructor(assignment: Assignment, context: ClientContext, place?: (progress: number) => number) {
    const { jobId, stepKey, stepName, jobProgressStart, jobProgressEnd } = assignment;
    const range = { jobProgressStart, jobProgressEnd };
    const jobPath = `/api/jobs${pathSegment(jobId)}`;
    const toBody = (report: Report): object => {
      const { status, progress } = report;
      if (progress === undefined) return { stepName, ...report };
      const reached = place?.(progress);
      const covered = place ? { jobProgressStart: reached, jobProgressEnd: reached } : range;
      // The range is left out of a report that would bring the job to 100 before the step is completed.
      return { stepName, ...((status === "completed" || !endsJob(covered, progress)) && covered), ...report };
    };
    super(`${jobPath}/steps${pathSegment(stepKey)}`, context, endsJob(range, 100), jobPath, toBody);
    this.#assignment = assignment;
  }

  /** Adds lines to the log of the step: at most one request a second, and not after the end of the step. */
  log(text: string): void {
    this.reports.add({ log: text.replace(/\n$/, "").slice(-MAX_LOG_CHARS) || undefined });
  }

  /** Returns the assignment, for `client.step()` in another process. */
  toJSON(): Assignment {
    return this.#assignment;
  }
}

/** Whether the step's progress brings the job to 100, calculated as the service does; false without a range. */
function endsJob(
  { jobProgressStart: start = Number.NaN, jobProgressEnd: end = Number.NaN }: Partial<Assignment>,
  progress: number,
): boolean {
  return start + (progress / 100) * (end - start) >= 100 - 5e-10;
}
